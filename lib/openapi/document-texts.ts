/** The words of an application for its operations and tags, by their names, and the texts that no document has. */
import type { Diagnostic } from "../errors/diagnostic.js";
import type { JsonObject, OpenApiOptions } from "./document.js";

type DocumentTexts = OpenApiOptions["texts"];

/** An operation, as texts know it. */
interface NamedOperation {
  readonly id: string;
  readonly tag: string;
}

/** The tags with texts first, in the order of the texts. */
export function describeTags(tags: ReadonlySet<string>, texts: DocumentTexts = {}): readonly JsonObject[] {
  const described = Object.keys(texts).filter((name) => tags.has(name));
  return [...new Set([...described, ...[...tags].toSorted()])].map((name) => {
    const description = texts[name]?.description;
    return { name, ...(description !== undefined && { description }) };
  });
}

/** @param operations those of all documents of the application */
export function findTextFaults(
  operations: readonly NamedOperation[],
  texts: DocumentTexts = {},
): readonly Diagnostic[] {
  const ids = new Set(operations.map(({ id }) => id));
  const tags = new Set(operations.map(({ tag }) => tag));
  return Object.entries(texts).flatMap(([name, { summary }]) => {
    const where = `texts[${JSON.stringify(name)}]`;
    if (ids.has(name)) return [];
    if (!tags.has(name)) return describeUnknown(name, where, [...ids, ...tags]);
    if (summary === undefined) return [];
    const what = `the texts of the API document have a summary of the tag ${JSON.stringify(name)}, which has a description alone`;
    return { code: "E_OPENAPI_TEXT", what, where, fix: "write it as the description" };
  });
}

function describeUnknown(name: string, where: string, known: readonly string[]): Diagnostic {
  const near = findNearName(name, known);
  return {
    code: "E_OPENAPI_TEXT",
    what: `the texts of the API document have the name ${JSON.stringify(name)}, which no operation and no tag has`,
    where,
    fix: near === undefined ? "write the dotted name of an endpoint, or the name of a table" : `write "${near}"`,
  };
}

const MAX_EDITS = 3;

/** The name that differs least from a misspelt one. */
function findNearName(name: string, known: readonly string[]): string | undefined {
  const sorted = known
    .map((each) => [countEdits(name, each), each] as const)
    .toSorted(([left], [right]) => left - right);
  const [edits, near] = sorted[0] ?? [];
  return edits !== undefined && edits <= Math.min(MAX_EDITS, name.length / 2) ? near : undefined;
}

/** The characters that are added, removed or replaced between two texts (Levenshtein). */
function countEdits(one: string, other: string): number {
  const opposites = Array.from(other);
  let previous = [0, ...opposites.map((_, at) => at + 1)];
  for (const [row, character] of Array.from(one).entries()) {
    const current = [row + 1];
    for (const [at, opposite] of opposites.entries()) {
      const [replaced = 0, added = 0] = previous.slice(at);
      current.push(Math.min(replaced + (character === opposite ? 0 : 1), added + 1, (current[at] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
