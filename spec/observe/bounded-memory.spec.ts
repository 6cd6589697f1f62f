/**
 * The memory of logging and metrics is bounded for every input. One process runs the rows one after the other, each with its own log and metrics.
 * A row logs or counts far more than the limit, and returns the megabytes that are still referenced. A row of long texts creates 50 of up to a
 * megabyte: it would contain most of them.
 */
import { expect } from "chai";
import { runProgram } from "../support/program.js";

const MAX_MB = 8;

const PRELUDE = `
  import { setFlagsFromString } from "node:v8";
  import { runInNewContext } from "node:vm";
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  const { isSensitive, JsonLog, Metrics, MetricsLayer } = await load("entries/observe.js");
  /** A few characters of a megabyte, different every time. */
  const piece = (round) => (Buffer.alloc(1 << 20, 97 + (round % 20)).toString("latin1") + round).slice(-30);
  const surrogates = (round) => String.fromCharCode(0xd800 + (round % 1000), 120, 0xd800 + (Math.floor(round / 1000) % 1000));
  /** The memory that the rows fill, referenced until its measurement has ended. */
  const referenced = [];
  function tools() {
    const layer = new JsonLog({ writeLine() {} });
    const metrics = new Metrics({ maxSeries: 1000 });
    const counted = new MetricsLayer(metrics);
    referenced.push(layer, metrics, counted);
    const log = (fields, target = "spec") => layer.onEvent({ level: "INFO", target, message: "m", fields, timestamp: 0 });
    return { log, metrics, counted };
  }
  // Memory outside the heap is released in a later iteration of the event loop, by some versions of Node only after a second collection.
  async function settle() {
    for (let round = 0; round < 5; round++) {
      gc();
      await new Promise(setImmediate);
    }
  }
  async function measure(times, act) {
    for (let round = 0; round < 10; round++) act(round);
    await settle();
    const before = process.memoryUsage();
    for (let round = 10; round < times; round++) act(round);
    await settle();
    const after = process.memoryUsage();
    return (after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20;
  }
  const measured = {};
`;

const TABLE: readonly (readonly [what: string, program: string])[] = [
  ["spellings of one label value", `measure(200_000, (round) => metrics.increment("a", { user: surrogates(round) }))`],
  ["label values cut out of long texts", `measure(60, (round) => metrics.increment("a", { tenant: piece(round) }))`],
  ["values logged that were cut out of long texts", `measure(60, (round) => log({ ["k" + round]: piece(round) }))`],
  ["names cut out of long texts", `measure(60, (round) => log({ note: new Map([[piece(round), 1]]) }))`],
  ["long values", `measure(60, (round) => log({ ["k" + round]: "x".repeat(1 << 20) + round }))`],
  ["names that were checked", `measure(200_000, (round) => isSensitive("name" + round))`],
  ["long names that were checked", `measure(60, (round) => isSensitive("x".repeat(1 << 18) + round))`],
  ["targets", `measure(100_000, (round) => log({ a: 1 }, "spec::" + round))`],
  ["methods", `measure(100_000, (round) => counted.count("M" + round, 200, 1))`],
  ["statuses", `measure(200_000, (round) => counted.count("GET", round, 1))`],
];

/** Prints the megabytes of all rows as JSON. */
const PROGRAM = [
  PRELUDE,
  ...TABLE.map(
    ([what, row]) => `{ const { log, metrics, counted } = tools(); measured[${JSON.stringify(what)}] = await ${row}; }`,
  ),
  "console.log(JSON.stringify(measured), referenced.length);",
].join("\n");

describe("the memory of logging and metrics", function () {
  this.timeout(180_000);
  let measured: Readonly<Record<string, number>>;

  before(async () => {
    const { stdout, stderr } = await runProgram(PROGRAM);
    expect(stderr).to.equal("");
    // The program prints this type, and a number.
    measured = JSON.parse(stdout.replace(/ \d+\n$/, "")) as typeof measured;
  });

  for (const [what] of TABLE) {
    it(`is bounded for ${what}`, () => {
      expect(measured[what]).to.be.below(MAX_MB);
    });
  }
});
