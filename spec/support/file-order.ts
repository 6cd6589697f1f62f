/**
 * The order in which the processes of mocha take the files of specs, for `.mocharc.mjs`. It decides how long the suite takes, not whether it
 * passes.
 */
import { filesBelow } from "./sources.js";

/** The files that call `alone()`. They come first, so that none of them waits for a long one. */
const ALONE = ["journeys/drain-under-load", "journeys/storm"];

/** Files that take a moment. A process may begin one before a file of `ALONE` has said that it wants to be alone. */
const SHORT = ["di/constructor", "di/disposal", "http/media-type", "http/vary", "routing/endpoint", "routing/routes"];

/**
 * The files that take longest come next, so that none of them is the last one of a run. Every fourth one mostly waits: the processors have
 * nothing to do while all processes wait. `SPECS_COSTS_SHOWN=400 npm test` prints what each file costs, and how long it takes.
 */
const LONG = [
  ["house/guide", "journeys/sample-in-a-browser", "journeys/sample-in-development", "bullmq/bull-end"],
  ["journeys/process", "house/entries", "samples/links-data", "bullmq/bull-faults"],
  [
    "journeys/pages-in-a-browser",
    "journeys/nothing-secret-is-logged",
    "storage/s3-swift",
    "observe/logging/stderr-sink",
  ],
  ["cost/cost", "journeys/shared-quota", "storage/fs-storage", "bullmq/bull-jobs"],
  ["storage/s3-storage", "observe/bounded-memory", "observe/logging/json-log", "samples/links-observed"],
].flat();

/** These wait for seconds too. One of them comes before each group of `OTHERS_FOR_EACH` other files. */
const WAITING = [
  "journeys/bad-input",
  "cache/cache-outages",
  "otel/process",
  "server/unclaimed-upgrades",
  "journeys/prometheus",
  "mail/smtp",
  "testing/test-app",
  "postgres/batches",
  "testing/obeys-layer-contract",
  "otel/telemetry",
  "app/callback",
];
const OTHERS_FOR_EACH = 24;

const SPECS = "dist/spec/";

/** Compiled files, from the repository. */
export function orderedFiles(): readonly string[] {
  const [first, waiting] = [[...ALONE, ...SHORT, ...LONG].map(compiled), WAITING.map(compiled)];
  const named = new Set([...first, ...waiting]);
  const others = spread(filesBelow(SPECS, ".spec.js").filter((file) => !named.has(file)));
  return [...first, ...waiting.flatMap((file) => [file, ...others.splice(0, OTHERS_FOR_EACH)]), ...others];
}

/**
 * Spreads the files of each room over the order, because files of one room often wait for the same thing, a server that starts for example.
 * The last places go to the rooms with many files, which are short ones.
 */
export function spread(files: readonly string[]): string[] {
  const rooms = new Map<string, string[]>();
  for (const file of files) rooms.set(roomOf(file), [...(rooms.get(roomOf(file)) ?? []), file]);
  return [...rooms.values()]
    .flatMap((room) => room.map((file, at) => ({ file, place: (at + 0.5) / (room.length + 1) })))
    .toSorted((one, other) => one.place - other.place)
    .map(({ file }) => file);
}

/** Whether the file calls `alone()`. */
export function runsAlone(file: string): boolean {
  return ALONE.some((name) => file.endsWith(compiled(name)));
}

function compiled(name: string): string {
  return `${SPECS}${name}.spec.js`;
}

/** The folder below `spec`. */
function roomOf(file: string): string {
  return file.slice(SPECS.length).split("/", 1)[0] ?? "";
}
