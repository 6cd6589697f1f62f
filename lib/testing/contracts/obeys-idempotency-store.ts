/**
 * The contract of a store of idempotency keys, for the test of a custom store. It runs on a store that works, and uses new keys. It moves
 * the time that it gives the store, so it does not wait for keys to expire.
 *
 * @example
 * it("stores keys", () => obeysIdempotencyStore(new MyIdempotencyStore(pool)));
 */
import { randomBytes } from "node:crypto";
import type {
  ClaimState,
  IdempotencyClaim,
  IdempotencyStore,
  IdempotentWork,
  WorkResult,
} from "../../idempotency/idempotency-store.js";
import type { RecordedResponse } from "../../idempotency/recorded-response.js";
import { SystemClock } from "../../runtime/clock.js";
import { checkPromises, type ContractPromise, type PromiseRun } from "./contract.js";

const TTL_MS = 60_000;
const PARALLEL = 20;

/** @throws AssertionError with every promise that the store breaks. The store is started, and stays so. */
export async function obeysIdempotencyStore(store: IdempotencyStore): Promise<void> {
  const verdict = `${store.constructor.name || "the store"} does not obey the contract of idempotency stores`;
  await checkPromises(verdict, PROMISES, (keeps, means) => keeps(new KeyTrial(store, means)));
}

class TrialClock extends SystemClock {
  private aheadMs = 0;

  override now(): number {
    return super.now() + this.aheadMs;
  }

  advance(ms: number): void {
    this.aheadMs += ms;
  }
}

/** One new key of the store. */
class KeyTrial {
  readonly clock = new TrialClock();
  readonly claim: IdempotencyClaim = { id: createHash(), fingerprint: createHash(), ttlMs: TTL_MS, clock: this.clock };
  readonly equal: PromiseRun["equal"];
  runs = 0;

  constructor(
    readonly store: IdempotencyStore,
    { equal }: PromiseRun,
  ) {
    this.equal = equal;
  }

  /** Runs a request with the key, and another fingerprint where one is given. */
  run(work: IdempotentWork, fingerprint = this.claim.fingerprint): Promise<ClaimState> {
    return this.store.run({ ...this.claim, fingerprint }, () => {
      this.runs++;
      return work();
    });
  }

  finish(outcome: WorkResult["outcome"], response?: RecordedResponse): Promise<ClaimState> {
    return this.run(() => Promise.resolve({ outcome, response }));
  }

  /** The state of the key for a later request, whose work would be a failure of the contract. */
  async expectRecorded(response: RecordedResponse | undefined): Promise<void> {
    const state = await this.run(() => Promise.resolve(DONE), createHash());
    this.equal(state.kind, "recorded", "the state of the key");
    if (state.kind !== "recorded") return;
    this.equal(state.fingerprint, this.claim.fingerprint, "its fingerprint");
    this.equal(toComparable(state.response), toComparable(response), "its response");
    this.equal(this.runs, 1, "the number of runs");
  }
}

function createHash(): string {
  return randomBytes(32).toString("hex");
}

function toComparable(response: RecordedResponse | undefined): unknown {
  if (response?.kind !== "reply" || typeof response.body !== "object") return response;
  return { ...response, body: Buffer.from(response.body).toString("hex") };
}

const TEXT: RecordedResponse = {
  kind: "reply",
  status: 201,
  type: "text/plain",
  headers: { link: ["</a>", "</b>"], "x-name": "grün" },
  body: "grüße 🧺\u0000",
};
const BYTES: RecordedResponse = { ...TEXT, body: Uint8Array.from({ length: 65_536 }, (_, at) => at % 256) };
const REFUSAL: RecordedResponse = {
  kind: "error",
  status: 409,
  code: "E_CONFLICT",
  detail: "vergeben",
  headers: { "Retry-After": "7" },
  set: { link: ["</a>", "</b>"] },
  extensions: { by: [7] },
};
const DONE: WorkResult = { outcome: "done", response: TEXT };

const PROMISES: readonly ContractPromise<KeyTrial>[] = [
  [
    "runs the work of a new key, and returns its response to later requests",
    async (trial) => {
      trial.equal((await trial.finish("done", TEXT)).kind, "ran", "the state of the first request");
      await trial.expectRecorded(TEXT);
    },
  ],
  [
    "stores bytes",
    async (trial) => {
      await trial.finish("done", BYTES);
      await trial.expectRecorded(BYTES);
    },
  ],
  [
    "stores an error",
    async (trial) => {
      await trial.finish("refused", REFUSAL);
      await trial.expectRecorded(REFUSAL);
    },
  ],
  [
    "records that a response could not be stored",
    async (trial) => {
      await trial.finish("done");
      await trial.expectRecorded(undefined);
    },
  ],
  [
    "frees the key of work that was released",
    async (trial) => {
      await trial.finish("released");
      trial.equal((await trial.finish("done", TEXT)).kind, "ran", "the state of the second request");
    },
  ],
  [
    "frees the key of work that failed, or does not know its outcome",
    async (trial) => {
      await trial.finish("failed");
      const { kind } = await trial.finish("done", TEXT);
      trial.equal(kind === "ran" || kind === "unknown", true, `that ${kind} is such a state`);
    },
  ],
  [
    "passes the error of the work, and does not record it",
    async (trial) => {
      const error = new Error("the work fails");
      const thrown: unknown = await trial.run(() => Promise.reject(error)).catch((reason: unknown) => reason);
      trial.equal(thrown === error, true, "that the error is the same");
      const { kind } = await trial.finish("done", TEXT);
      trial.equal(kind === "ran" || kind === "unknown", true, `that ${kind} is such a state`);
    },
  ],
  [
    `runs the work of ${PARALLEL} equal requests at the same time once`,
    async (trial) => {
      const states = await Promise.all(Array.from({ length: PARALLEL }, () => trial.finish("done", TEXT)));
      trial.equal(states.filter(({ kind }) => kind === "ran").length, 1, "the number of requests that ran");
      await trial.expectRecorded(TEXT);
    },
  ],
  [
    "frees a key after its time to live",
    async (trial) => {
      await trial.finish("done", TEXT);
      trial.clock.advance(TTL_MS + 1);
      trial.equal((await trial.finish("done", TEXT)).kind, "ran", "the state of the later request");
    },
  ],
];
