/**
 * The order in which the processes of mocha take the files of specs, for `.mocharc.mjs`. It decides how long the suite takes, not whether it
 * passes.
 */
import { filesBelow } from "./sources.js";

/** The files that call `alone()`. They come first, so that none of them waits for a long one. */
const ALONE = ["journeys/drain-under-load", "journeys/storm"];

/** Their files take longest. They come next, so that none of these is the last one of a run. */
const LONG = ["house", "journeys"];

const SPECS = "dist/spec/";

/** Compiled files, from the repository. */
export function orderedFiles(): readonly string[] {
  const first = ALONE.map((name) => `${SPECS}${name}.spec.js`);
  const rest = filesBelow(SPECS, ".spec.js").filter((file) => !first.includes(file));
  const long = rest.filter((file) => LONG.includes(roomOf(file)));
  return [...first, ...long, ...spread(rest.filter((file) => !long.includes(file)))];
}

/**
 * Spreads the files of each room over the whole order. Files of one room often wait for the same thing, a Redis that is halted for example.
 * While all processes wait at the same time, the processors have nothing to do.
 */
export function spread(files: readonly string[]): readonly string[] {
  const rooms = new Map<string, string[]>();
  for (const file of files) rooms.set(roomOf(file), [...(rooms.get(roomOf(file)) ?? []), file]);
  return [...rooms.values()]
    .flatMap((room) => room.map((file, at) => ({ file, place: (at + 0.5) / room.length })))
    .toSorted((one, other) => one.place - other.place)
    .map(({ file }) => file);
}

/** The folder below `spec`. */
function roomOf(file: string): string {
  return file.slice(SPECS.length).split("/", 1)[0] ?? "";
}
