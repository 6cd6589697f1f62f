/** The differences between two graphs of an application, one for each module, route, event, page and stage. Not for the order of entries. */
import type { ApplicationGraph } from "../../app/graph/graph.js";
import { CommandError } from "../command.js";

export interface GraphChange {
  readonly change: "added" | "removed" | "changed";
  readonly kind: string;
  readonly name: string;
}

/** The lists of a graph, and the name of an entry. */
const LISTS: readonly (readonly [list: keyof ApplicationGraph, kind: string, name: (entry: GraphEntry) => string])[] = [
  ["modules", "module", ({ name }) => String(name)],
  ["routes", "route", ({ method, path }) => `${String(method)} ${String(path)}`],
  ["events", "event", ({ name }) => String(name)],
  ["pages", "page", ({ name }) => String(name)],
  ["pipeline", "stage", ({ slot }) => String(slot)],
];

type GraphEntry = Readonly<Record<string, unknown>>;

/** @throws CommandError if `before` is no graph */
export function listGraphChanges(before: object, after: ApplicationGraph): readonly GraphChange[] {
  const earlier: GraphEntry = { ...before };
  if (earlier["format"] !== after.format || earlier["schema_version"] !== after.schema_version)
    throw new CommandError(`the file is no graph of the format ${after.format}, version ${after.schema_version}`, {
      fix: "write it with stagecraft graph --json",
    });
  return LISTS.flatMap(([list, kind, name]) =>
    compareLists(kind, toEntries(earlier[list], name), toEntries(after[list], name)),
  );
}

/** The text of each entry by its name. The keys of a graph are sorted, so that equal entries have equal texts. */
function toEntries(list: unknown, name: (entry: GraphEntry) => string): ReadonlyMap<string, string> {
  const entries: readonly GraphEntry[] = Array.isArray(list) ? list : [];
  return new Map(entries.map((entry) => [name(entry), JSON.stringify(entry)]));
}

function compareLists(
  kind: string,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly GraphChange[] {
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const changed = [...after].filter(([name, text]) => before.has(name) && before.get(name) !== text);
  const added = [...after.keys()].filter((name) => !before.has(name));
  return [
    ...removed.map((name): GraphChange => ({ change: "removed", kind, name })),
    ...changed.map(([name]): GraphChange => ({ change: "changed", kind, name })),
    ...added.map((name): GraphChange => ({ change: "added", kind, name })),
  ];
}
