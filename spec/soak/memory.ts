/**
 * Whether memory stayed flat. Compared are the first and the last third of the readings after the warm-up, by their medians.
 *
 * The heap is read after a full collection, so whatever it has grown by is kept by somebody. One reference kept a request is 8 bytes: over
 * a million requests four times what is allowed here, which leaves room for code that is compiled late and for tables that fill up. The
 * resident set goes up and down with the young generation, of which V8 may hold one semi-space of 16 MiB more or less at any time.
 */
import { median } from "../bench/table.js";
import type { Memory } from "./memory-witness.js";

const MIB = 1024 * 1024;
export const HEAP_MAY_GROW = 2 * MIB;
export const RESIDENT_MAY_GROW = 16 * MIB;

export interface Growth {
  /** Bytes. */
  readonly from: number;
  readonly to: number;
}

export interface MemoryStory {
  readonly heap: Growth;
  readonly resident: Growth;
}

/** @param readings at even intervals, those of the warm-up left out */
export function storyOf(readings: readonly Memory[]): MemoryStory {
  const third = Math.ceil(readings.length / 3);
  const [first, last] = [readings.slice(0, third), readings.slice(-third)];
  const growth = (of: (memory: Memory) => number): Growth => ({
    from: median(first.map(of)),
    to: median(last.map(of)),
  });
  return { heap: growth(({ heap }) => heap), resident: growth(({ resident }) => resident) };
}

export function findingsOf({ heap, resident }: MemoryStory): readonly string[] {
  return [grown("the heap", heap, HEAP_MAY_GROW), grown("the resident set", resident, RESIDENT_MAY_GROW)].flat();
}

export function shown({ from, to }: Growth): string {
  return `${mib(from)} → ${mib(to)} MiB`;
}

function grown(what: string, growth: Growth, allowed: number): readonly string[] {
  if (growth.to - growth.from <= allowed) return [];
  return [`${what} has grown: ${shown(growth)}; allowed are ${mib(allowed)} MiB`];
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}
