/**
 * The files of the guide for other programs: blocks whose first line is the comment `# name`, `; name` or `-- name`. A spec gives them to the program that they
 * are for.
 */
import { parseAllDocuments } from "yaml";
import { textOf } from "./sources.js";

/** @throws Error if the page has no such file, or two */
export function guideFile(page: string, name: string): string {
  const text = textOf(`docs/guide/${page}`) ?? "";
  const blocks = [...text.matchAll(/^```\w+\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
  const [found, other] = blocks.filter((block) =>
    ["#", ";", "--"].some((sign) => block.startsWith(`${sign} ${name}\n`)),
  );
  if (found === undefined || other !== undefined) throw new Error(`${page} must have one block of ${name}`);
  return found;
}

/** The text with each of the texts replaced, each of which must be there: a spec then sees that a page has changed. */
export function replacedIn(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((replaced, [from, to]) => {
    if (!replaced.includes(from)) throw new Error(`${JSON.stringify(from)} is not in the file`);
    return replaced.replaceAll(from, to);
  }, text);
}

/** The map that a file of YAML has, with `<<` as Compose reads it. @throws Error if it has another number of documents, or a fault */
export function parsedYaml(text: string): object {
  const [document, other] = parseAllDocuments(text, { merge: true });
  const [fault] = [...(document?.errors ?? []), ...(document?.warnings ?? [])];
  const map: unknown = document?.toJS();
  if (fault !== undefined) throw fault;
  if (typeof map !== "object" || map === null || other !== undefined) throw new Error("the file must be one map");
  return map;
}
