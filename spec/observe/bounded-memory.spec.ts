/**
 * What observing keeps of what it has seen: bounded, whatever comes and however much of it. Each row runs in a process of its own, which
 * sees far more than may be kept and then says how many megabytes of it are left.
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
  const layer = new JsonLog({ writeLine() {} });
  const log = (fields, target = "spec") => layer.onEvent({ level: "INFO", target, message: "m", fields, timestamp: 0 });
  const metrics = new Metrics({ maxSeries: 1000 });
  const counted = new MetricsLayer(metrics);
  /** A few characters of a megabyte, different every time. */
  const piece = (turn) => (Buffer.alloc(1 << 20, 97 + (turn % 20)).toString("latin1") + turn).slice(-30);
  const surrogates = (turn) => String.fromCharCode(0xd800 + (turn % 1000), 120, 0xd800 + (Math.floor(turn / 1000) % 1000));
  const kept = [];
  // What lies outside the heap is let go of in a later turn, by some Nodes only when asked again.
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
    console.log((after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20);
  }
`;

const TABLE: readonly (readonly [what: string, program: string])[] = [
  ["spellings of one label value", `measure(200_000, (turn) => metrics.increment("a", { user: surrogates(turn) }))`],
  ["label values cut out of long texts", `measure(200, (turn) => metrics.increment("a", { tenant: piece(turn) }))`],
  ["values logged that were cut out of long texts", `measure(200, (turn) => log({ ["k" + turn]: piece(turn) }))`],
  ["names cut out of long texts", `measure(200, (turn) => log({ note: new Map([[piece(turn), 1]]) }))`],
  ["long values", `measure(200, (turn) => log({ ["k" + turn]: "x".repeat(1 << 20) + turn }))`],
  ["names that were judged", `measure(200_000, (turn) => isSensitive("name" + turn))`],
  ["long names that were judged", `measure(200, (turn) => isSensitive("x".repeat(1 << 18) + turn))`],
  ["targets", `measure(100_000, (turn) => log({ a: 1 }, "spec::" + turn))`],
  ["methods", `measure(100_000, (turn) => counted.count("M" + turn, 200, 1)), metrics.render()`],
  ["statuses", `measure(400_000, (turn) => counted.count("GET", turn, 1))`],
];

describe("what observing keeps in memory", function () {
  this.timeout(60_000);
  this.slow(10_000);

  for (const [what, program] of TABLE) {
    it(`is bounded for ${what}`, async () => {
      const { stdout, stderr } = await runProgram(`${PRELUDE}\n${program};`);

      expect(stderr).to.equal("");
      expect(stdout).to.match(/^-?\d/);
      expect(Number(stdout)).to.be.below(MOST_MB);
    });
  }
});
