/**
 * The cost of each file of specs. Processor time decides how long the suite takes: the files run at the same time and share the processors.
 * A run of many files prints the sum and the files that cost most. The time of the pages of Chromium is missing, because its first process
 * does not wait for them: a file with a browser costs up to three times the printed time. The time of lent database servers is missing too,
 * because they end after the last file. In one process (`--no-parallel`) mocha does not report the end of a file, and no cost is printed.
 * `SPECS_COSTS_SHOWN=400 npm test` prints all files.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { fileOf } from "./file-of.js";

/** The file with one line of JSON for each file of specs. */
const VARIABLE = "SPECS_COSTS";
const SPECS = fileURLToPath(new URL("../", import.meta.url));
/** A run of fewer files prints no costs. */
const MANY = 20;
const SHOWN = 10;

interface Cost {
  readonly file: string;
  /** Seconds of processors. */
  readonly processor: number;
  /** Seconds of a clock. */
  readonly elapsed: number;
}

let started = 0;
let begin = performance.now();
/** The time so far when the last file was over: the import of a file belongs to it. */
let before = processorTime();

/** Call it once a run, before the processes start. */
export function openCosts(): void {
  started = performance.now();
  process.env[VARIABLE] = join(mkdtempSync(join(tmpdir(), "costs-")), "files");
}

/** For the hook before each file. */
export function beginCost(): void {
  begin = performance.now();
}

/** For the hook after each file. */
export function endCost(): (this: Mocha.Context) => void {
  return function () {
    const [path, notes] = [fileOf(this.test?.parent), process.env[VARIABLE]];
    if (path !== undefined && notes !== undefined) appendFileSync(notes, `${JSON.stringify(costOf(path))}\n`);
  };
}

function costOf(path: string): Cost {
  const now = processorTime();
  const processor = now - before;
  before = now;
  return { file: relative(SPECS, path), processor, elapsed: (performance.now() - begin) / 1000 };
}

/** Call it once, after the run. */
export function printCosts(): void {
  const notes = process.env[VARIABLE];
  if (notes === undefined) return;
  const lines = existsSync(notes) ? readFileSync(notes, "utf8").trimEnd().split("\n") : [];
  rmSync(dirname(notes), { recursive: true, force: true });
  // `endCost` writes this type.
  const costs = lines.map((line) => JSON.parse(line) as Cost);
  const shown = Number(process.env["SPECS_COSTS_SHOWN"] ?? SHOWN);
  if (costs.length >= MANY) console.log(summary(costs, (performance.now() - started) / 1000, shown));
}

/** Exported for its own spec. */
export function summary(costs: readonly Cost[], elapsed: number, shown = SHOWN): string {
  const sum = costs.reduce((total, { processor }) => total + processor, 0);
  const most = costs.toSorted((one, other) => other.processor - one.processor).slice(0, shown);
  return [
    `  ${seconds(sum)} of processors for ${costs.length} files in ${seconds(elapsed)}; the files that cost most:`,
    ...most.map((cost) => `  ${seconds(cost.processor)} in ${seconds(cost.elapsed)}  ${cost.file}`),
    "",
  ].join("\n");
}

function seconds(value: number): string {
  return `${value.toFixed(1).padStart(6)} s`;
}

/** Of this process and of its processes that have ended, in seconds: fields 14 to 17 of /proc/self/stat, in ticks of 10 ms. */
function processorTime(): number {
  const file = "/proc/self/stat";
  const { user, system } = process.cpuUsage();
  if (!existsSync(file)) return (user + system) / 1e6;
  const fields = readFileSync(file, "utf8").split(") ").at(-1)?.split(" ").slice(11, 15) ?? [];
  return fields.reduce((ticks, field) => ticks + Number(field), 0) / 100;
}
