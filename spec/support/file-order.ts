/**
 * The order in which the processes of mocha take the files of specs, for `.mocharc.mjs`. It decides how long the suite takes, not whether it
 * passes.
 */
import { filesBelow } from "./sources.js";

/** The files that call `alone()`. They come first, so that none of them waits for a long one. */
const ALONE = ["journeys/drain-under-load", "journeys/storm"];

/** Files of a moment, for the processes that begin before one of `ALONE` has said that it wants to be alone. */
const SHORT = ["di/constructor", "di/disposal", "http/media-type", "http/vary", "routing/endpoint", "routing/routes"];

/**
 * The files that take longest come next, so that none of them is the last one of a run. Every second one mostly waits: the processors have
 * nothing to do while all processes wait. `SPECS_COSTS_SHOWN=400 npm test` prints what each file costs, and how long it takes.
 */
const LONG = [
  ["house/guide", "bullmq/bull-end"],
  ["journeys/sample-in-a-browser", "bullmq/bull-faults"],
  ["journeys/sample-in-development", "observe/logging/stderr-sink"],
  ["journeys/process", "bullmq/bull-jobs"],
  ["house/entries", "samples/links-observed"],
  ["journeys/pages-in-a-browser", "cache/cache-outages"],
].flat();

/** These wait for seconds too. They are spread over the order. */
const WAITING = [
  "app/callback",
  "journeys/bad-input",
  "otel/process",
  "journeys/prometheus",
  "mail/smtp",
  "server/unclaimed-upgrades",
  "testing/obeys-layer-contract",
  "otel/telemetry",
  "postgres/batches",
  "testing/test-app",
];

const SPECS = "dist/spec/";

/** Compiled files, from the repository. */
export function orderedFiles(): readonly string[] {
  const [first, waiting] = [[...ALONE, ...SHORT, ...LONG].map(compiled), WAITING.map(compiled)];
  const named = new Set([...first, ...waiting]);
  const others = filesBelow(SPECS, ".spec.js").filter((file) => !named.has(file));
  return [...first, ...spread([...waiting, ...others], (file) => (named.has(file) ? "waiting" : roomOf(file)))];
}

/**
 * Spreads the files of each group over the order. Files of one room often wait for the same thing, a server that starts for example. The last
 * places go to groups of many files, which are short.
 */
export function spread(files: readonly string[], groupOf: (file: string) => string): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const file of files) groups.set(groupOf(file), [...(groups.get(groupOf(file)) ?? []), file]);
  return [...groups.values()]
    .flatMap((group) => group.map((file, at) => ({ file, place: (at + 0.5) / (group.length + 1) })))
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
