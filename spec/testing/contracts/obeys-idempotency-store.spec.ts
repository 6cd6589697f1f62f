import { MemoryIdempotencyStore } from "@stagecraft/framework/idempotency";
import { obeysIdempotencyStore } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { rejectionOf } from "../../support/rejection-of.js";

type Run = MemoryIdempotencyStore["run"];

/** Each store breaks one promise; the text is a part of the fault. */
const BROKEN: readonly (readonly [string, MemoryIdempotencyStore, string])[] = [
  [
    "runs each request",
    new (class extends MemoryIdempotencyStore {
      override async run(...[, work]: Parameters<Run>): ReturnType<Run> {
        await work();
        return { kind: "ran" };
      }
    })(),
    "requests at the same time once: the number of requests that ran is 20, not 1",
  ],
  [
    "stores no bytes",
    new (class extends MemoryIdempotencyStore {
      override async run(...args: Parameters<Run>): ReturnType<Run> {
        const state = await super.run(...args);
        const isBytes = state.kind === "recorded" && state.response?.kind === "reply";
        return isBytes ? { ...state, response: { kind: "reply", status: 201, headers: {} } } : state;
      }
    })(),
    "stores bytes: its response is",
  ],
  [
    "forgets the expiry",
    new (class extends MemoryIdempotencyStore {
      override run(claim: Parameters<Run>[0], work: Parameters<Run>[1]): ReturnType<Run> {
        return super.run({ ...claim, ttlMs: claim.ttlMs * 2 }, work);
      }
    })(),
    "after its time to live: the state of the later request is",
  ],
  [
    "hides the error of the work",
    new (class extends MemoryIdempotencyStore {
      override run(...args: Parameters<Run>): ReturnType<Run> {
        return super.run(...args).catch(() => ({ kind: "running" }));
      }
    })(),
    "passes the error of the work, and does not record it: that the error is the same is false",
  ],
];

describe("the contract of idempotency stores", () => {
  it("holds for the store in memory", () => obeysIdempotencyStore(new MemoryIdempotencyStore()));

  for (const [what, store, fault] of BROKEN)
    it(`finds a store that ${what}`, async () => {
      expect((await rejectionOf(obeysIdempotencyStore(store))).message).to.include(fault);
    });
});
