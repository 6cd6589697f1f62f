/**
 * The memory of logging and metrics is bounded for every input. One process runs the rows one after the other, each with its own log and metrics.
 * A row logs or counts far more than the limit, and gives the megabytes that it still holds. A row of long texts makes 50 of up to a
 * megabyte: it would hold most of them.
 */
import { expect } from "chai";
import { runProgram } from "../support/program.js";

const MOST_MB = 8;

const PRELUDE = `
  import { setFlagsFromString } from "node:v8";
  import { runInNewContext } from "node:vm";
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  const { isSensitive, JsonLog, Metrics, MetricsLayer } = await load("entries/observe.js");
  /** A few characters of a megabyte, different every time. */
  const piece = (turn) => (Buffer.alloc(1 << 20, 97 + (turn % 20)).toString("latin1") + turn).slice(-30);
  const surrogates = (turn) => String.fromCharCode(0xd800 + (turn % 1000), 120, 0xd800 + (Math.floor(turn / 1000) % 1000));
  /** The memory that the rows fill, referenced until its measurement has ended. */
  const kept = [];
  function tools() {
    const layer = new JsonLog({ writeLine() {} });
    const metrics = new Metrics({ maxSeries: 1000 });
    const counted = new MetricsLayer(metrics);
    kept.push(layer, metrics, counted);
    const log = (fields, target = "spec") => layer.onEvent({ level: "INFO", target, message: "m", fields, timestamp: 0 });
    return { log, metrics, counted };
  }
  // Memory outside the heap is released in a later iteration of the event loop, by some versions of Node only after a second collection.
  async function settle() {
    for (let turn = 0; turn < 5; turn++) {
      gc();
      await new Promise(setImmediate);
    }
  }
  async function measure(times, act) {
    for (let turn = 0; turn < 10; turn++) act(turn);
    await settle();
    const before = process.memoryUsage();
    for (let turn = 10; turn < times; turn++) act(turn);
    await settle();
    const after = process.memoryUsage();
    return (after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20;
  }
  const held = {};
`;

const TABLE: readonly (readonly [what: string, program: string])[] = [
  ["spellings of one label value", `measure(200_000, (turn) => metrics.increment("a", { user: surrogates(turn) }))`],
  ["label values cut out of long texts", `measure(60, (turn) => metrics.increment("a", { tenant: piece(turn) }))`],
  ["values logged that were cut out of long texts", `measure(60, (turn) => log({ ["k" + turn]: piece(turn) }))`],
  ["names cut out of long texts", `measure(60, (turn) => log({ note: new Map([[piece(turn), 1]]) }))`],
  ["long values", `measure(60, (turn) => log({ ["k" + turn]: "x".repeat(1 << 20) + turn }))`],
  ["names that were checked", `measure(200_000, (turn) => isSensitive("name" + turn))`],
  ["long names that were checked", `measure(60, (turn) => isSensitive("x".repeat(1 << 18) + turn))`],
  ["targets", `measure(100_000, (turn) => log({ a: 1 }, "spec::" + turn))`],
  ["methods", `measure(100_000, (turn) => counted.count("M" + turn, 200, 1))`],
  ["statuses", `measure(200_000, (turn) => counted.count("GET", turn, 1))`],
];

/** Prints the megabytes of all rows as JSON. */
const PROGRAM = [
  PRELUDE,
  ...TABLE.map(
    ([what, row]) => `{ const { log, metrics, counted } = tools(); held[${JSON.stringify(what)}] = await ${row}; }`,
  ),
  "console.log(JSON.stringify(held), kept.length);",
].join("\n");

describe("the memory of logging and metrics", function () {
  this.timeout(180_000);
  let held: Readonly<Record<string, number>>;

  before(async () => {
    const { stdout, stderr } = await runProgram(PROGRAM);
    expect(stderr).to.equal("");
    // The program prints this type, and a number.
    held = JSON.parse(stdout.replace(/ \d+\n$/, "")) as typeof held;
  });

  for (const [what] of TABLE) {
    it(`is bounded for ${what}`, () => {
      expect(held[what]).to.be.below(MOST_MB);
    });
  }
});
