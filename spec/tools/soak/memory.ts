/**
 * Checks that memory is flat: compares the medians of the first and the last third of the readings after the warm-up.
 *
 * The heap is read after a full collection, so its growth is a leak. A leak of one reference, 8 bytes, per request is four times the limit
 * after a million requests; the limit leaves room for late compilation and for tables that fill up. The resident set varies with the young
 * generation, of which V8 may hold one semi-space of 16 MiB more or less at any time.
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

/** @param readings at even intervals, without those of the warm-up */
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
