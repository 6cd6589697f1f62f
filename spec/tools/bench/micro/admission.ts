/** What a rate limit costs by the keys that come, and a timeout beside a timer of its own for every request. */

import { Quota } from "../../../../lib/stages/rate-limit/quota.js";
import { TimeoutLayer } from "../../../../lib/stages/timeout.js";
import { TokenBuckets } from "../../../../lib/stages/rate-limit/token-bucket.js";
import { SystemClock } from "../../../../lib/runtime/clock.js";
import type { Context } from "../../../../lib/http/request/context.js";
import type { Run } from "../../../../lib/http/middleware.js";
import type { Comparison, MicroContender } from "./comparison.js";

const SECOND = 1000;
const HOUR = 3_600_000;
/** Milliseconds between two requests: some thirty thousand a second. */
const STEP_MS = 0.03;
const SEEN = 1_000_000;

export function admissionComparisons(): readonly Comparison[] {
  return [
    { what: "rate limit, a key of", contenders: limiting() },
    { what: "timeout of 30 s around a promise", contenders: timing() },
  ];
}

function limiting(): readonly MicroContender[] {
  return [
    taking("one client, 1000000 a second", Quota.of(SEEN, SECOND), () => "203.0.113.7"),
    taking("5000 clients, 1000000 a second", Quota.of(SEEN, SECOND), (turn) => `10.0.0.${turn % 5000}`),
    taking("a fresh client each time, 10 a second", Quota.of(10, SECOND), (turn) => `fresh ${turn}`),
    taking("a fresh client each time, 10 an hour", Quota.of(10, HOUR), (turn) => `fresh ${turn}`),
    taking("any of a million clients, 1000 an hour", Quota.of(1000, HOUR), (turn) => `seen ${(turn * 7919) % SEEN}`),
  ];
}

function taking(name: string, quota: Quota, keyOf: (turn: number) => string): MicroContender {
  const buckets = new TokenBuckets(quota);
  let turn = 0;
  return {
    name,
    run: (times) => {
      for (let end = turn + times; turn < end; turn += 1) buckets.take(keyOf(turn), turn * STEP_MS);
    },
  };
}

function timing(): readonly MicroContender[] {
  const layer = new TimeoutLayer(30_000);
  return [
    awaiting("a timer for each", withTimer(30_000, work)),
    awaiting("stagecraft", layer.wrap(work)),
    awaiting("none", work),
  ];
}

function awaiting(name: string, run: Run): MicroContender {
  return {
    name,
    run: async (times) => {
      const clock = new SystemClock();
      for (let turn = 0; turn < times; turn += 1) await run(request(clock));
    },
  };
}

/** The part of a context that the layer uses. */
function request(clock: SystemClock): Context {
  return { clock, activeTimeout: undefined, takeHeadSnapshot: () => undefined } as unknown as Context;
}

async function work(): Promise<void> {
  await Promise.resolve();
}

function withTimer(ms: number, inner: Run): Run {
  return (ctx) =>
    new Promise<boolean>((resolve, reject) => {
      const timer = ctx.clock.setTimeout(() => resolve(true), ms);
      Promise.resolve(inner(ctx)).then(
        () => {
          timer.cancel();
          resolve(false);
        },
        (thrown: unknown) => {
          timer.cancel();
          reject(thrown);
        },
      );
    }).then(() => undefined);
}
