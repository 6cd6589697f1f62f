/**
 * Small operations compared in one process, turn by turn: each contender runs its own loop for about a tenth of a second, then the
 * next one, round after round. Measured is processor time, which other processes on the machine do not change, unless a comparison says
 * otherwise; medians over the rounds.
 */

import { median } from "../table.js";

export interface MicroContender {
  readonly name: string;
  /** Does the operation that many times; a promise is waited for, a text is taken for bytes to be sent. */
  readonly run: (times: number) => unknown;
}

export interface Comparison {
  readonly what: string;
  /** The first one is the one that the others are compared to. */
  readonly contenders: readonly MicroContender[];
  /** What is measured of doing it once, in nanoseconds, where it is not processor time. */
  readonly measure?: (contender: MicroContender) => Promise<number>;
}

const SLICE_MS = 100;
const COLUMNS = ["operation", "contender", "ns", "times as fast as the first"];

export { COLUMNS as MICRO_COLUMNS };

/** Rows for a table with `MICRO_COLUMNS`. */
export async function compare(
  { what, contenders, measure }: Comparison,
  rounds: number,
): Promise<readonly (readonly string[])[]> {
  const results = [];
  for (const contender of contenders)
    results.push({ contender, times: measure ? 1 : await calibrate(contender), taken: [] as number[] });
  for (let round = 0; round < rounds; round += 1) {
    for (const { contender, times, taken } of results) {
      taken.push(measure ? await measure(contender) : (await processorTime(contender, times)) / times);
    }
  }
  const reference = results[0]?.taken ?? [];
  return results.map(({ contender, taken }) => [
    what,
    contender.name,
    nanoseconds(median(taken)),
    median(taken.map((own, round) => (reference[round] ?? 0) / own)).toFixed(2),
  ]);
}

/** How often fits into a slice; finding it out warms the code up. */
async function calibrate(contender: MicroContender): Promise<number> {
  let times = 1;
  while ((await processorTime(contender, times)) < (SLICE_MS / 2) * 1e6 && times < 2 ** 28) times *= 2;
  return times;
}

/** Nanoseconds. */
async function processorTime({ run }: MicroContender, times: number): Promise<number> {
  const before = process.cpuUsage();
  const result = run(times);
  const text = result instanceof Promise ? ((await result) as unknown) : result;
  if (typeof text === "string") Buffer.from(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) * 1000;
}

function nanoseconds(value: number): string {
  return value < 1000 ? value.toFixed(1) : Math.round(value).toLocaleString("en-US");
}
