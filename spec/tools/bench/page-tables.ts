/**
 * The tables of `docs/guide/speed.md`, from what runs have stored. A place of the page names a scenario, one of its tables where it has
 * several, and the columns that the page shows. What stands in it is written by `npm run bench -- --page`.
 *
 * @example
 * <!-- bench hello: requests/s, ratio, CPU ratio -->
 * <!-- bench db/SQLite: requests/s, ratio -->
 * <!-- bench runs -->
 */

import { markdownTable } from "./table.js";

export interface StoredTable {
  /** What stands above it where the scenario prints several; otherwise empty. */
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** One run of a scenario on one version of Node. */
export interface StoredRun {
  /** `v24.1.0` */
  readonly node: string;
  readonly machine: string;
  /** Whether idle processors were awake. */
  readonly awake: boolean;
  /** `2026-11-27` */
  readonly date: string;
  /** Whether it was shorter than the page asks for: its figures are no result. */
  readonly trial: boolean;
  /** What repeats it, under that version of Node. */
  readonly command: string;
  readonly tables: readonly StoredTable[];
}

/** By the name of the scenario. */
export type StoredRuns = Readonly<Record<string, StoredRun>>;

export interface Place {
  readonly scenario: string;
  readonly title: string;
  readonly columns: readonly string[];
}

const END = "<!-- end of bench -->";
const FILLED = /^(<!-- bench (?:runs|([\w:-]+)(?:\/(\w+))?: (.+)) -->)\n[\s\S]*?^<!-- end of bench -->$/gm;

/** The places of the page that show a scenario, in their order. */
export function placesOf(page: string): readonly Place[] {
  return [...page.matchAll(FILLED)].flatMap(([, , scenario, title = "", columns = ""]) =>
    scenario === undefined ? [] : [{ scenario, title, columns: columns.split(", ") }],
  );
}

/** The text of the page outside of its places. */
export function proseOf(page: string): string {
  return page.replaceAll(FILLED, "");
}

/**
 * The page with the tables of these runs, one group of columns for each version of Node.
 *
 * @throws Error naming the scenario, table or column that a run does not have
 */
export function filledPage(page: string, versions: readonly StoredRuns[]): string {
  return page.replaceAll(FILLED, (_, marker: string, scenario?: string, title = "", columns = "") => {
    const content =
      scenario === undefined
        ? runsTable(versions)
        : comparison({ scenario, title, columns: columns.split(", ") }, versions);
    return `${marker}\n\n${content}\n\n${END}`;
  });
}

/** The tables in the output of a scenario. */
export function tablesIn(output: string): readonly StoredTable[] {
  const blocks = output.split("\n\n");
  return blocks.flatMap((block, at) => {
    const [head, , ...rows] = block.split("\n").map(cellsOf);
    const above = blocks[at - 1] ?? "";
    return head === undefined || !block.startsWith("|")
      ? []
      : [{ title: above.startsWith("|") ? "" : above, head, rows }];
  });
}

function cellsOf(line: string): readonly string[] {
  return line
    .slice(1, -1)
    .split("|")
    .map((each) => each.trim());
}

function comparison(place: Place, versions: readonly StoredRuns[]): string {
  const { scenario, columns } = place;
  const shown = versions.flatMap((runs) => (runs[scenario] === undefined ? [] : [runs[scenario]]));
  const tables = shown.map((run) => tableOf(place, run));
  const [first] = tables;
  if (first === undefined) return `Not measured yet: \`npm run bench -- --page --scenario ${scenario}\``;
  const head = shown.flatMap(({ node }) =>
    columns.map((column, at) => (at === 0 ? `${shortName(node)}, ${column}` : column)),
  );
  const names = [...new Set(tables.flatMap(({ rows }) => rows.map(([name = ""]) => name)))];
  const rows = names.map((name) => [
    name,
    ...tables.flatMap((table) => columns.map((column) => cell(table, name, column))),
  ]);
  return `${commandsOf(shown)}\n\n${markdownTable([first.head[0] ?? "", ...head], rows)}`;
}

function tableOf({ scenario, title, columns }: Place, { node, tables }: StoredRun): StoredTable {
  const table = tables.find((each) => each.title === title);
  if (table === undefined) throw new Error(`${scenario} on ${node} has no table "${title}"`);
  const missing = columns.filter((column) => !table.head.includes(column));
  if (missing.length > 0) throw new Error(`${scenario} on ${node} has no column ${missing.join(", ")}`);
  return table;
}

/** A dash where this version of Node did not run the contender. */
function cell({ head, rows }: StoredTable, name: string, column: string): string {
  const text = rows.find(([first]) => first === name)?.[head.indexOf(column)] ?? "–";
  return text === "NaN" ? "–" : text;
}

function commandsOf(runs: readonly StoredRun[]): string {
  const commands = new Set(runs.map(({ command }) => command));
  if (commands.size === 1) return `\`${[...commands][0]}\``;
  return runs.map(({ node, command }) => `${shortName(node)}: \`${command}\``).join("\n\n");
}

function shortName(node: string): string {
  return `Node ${node.slice(1).split(".", 1)[0]}`;
}

/** A row for each version, machine, length and day. */
function runsTable(versions: readonly StoredRuns[]): string {
  const groups = new Map<string, string[]>();
  for (const [scenario, run] of versions.flatMap((runs) => Object.entries(runs))) {
    const key = [
      run.node.slice(1),
      run.machine,
      run.awake ? "awake" : "may sleep",
      run.trial ? "**a trial, no result**" : "whole",
      run.date,
    ].join("|");
    groups.set(key, [...(groups.get(key) ?? []), scenario]);
  }
  const rows = [...groups].map(([key, scenarios]) => [...key.split("|"), scenarios.join(", ")]);
  return markdownTable(["Node", "machine", "idle processors", "run", "day", "scenarios"], rows);
}
