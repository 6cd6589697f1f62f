/**
 * The contract of every layer, tried on a real socket. It calls next at most once, waits for it, and never calls it after it has answered;
 * it writes no header after the head was sent; what next throws passes through it; HEAD is answered as GET is; a body that fails is not
 * given a clean end, and a body that is no longer read is let go. For a `Middleware`, a `Layer` and a Koa function alike.
 *
 * @example
 * it("obeys the layer contract", () => obeysLayerContract(new RequestIdLayer()));
 */
import { Readable } from "node:stream";
import { answerWith } from "../http/returned-value.js";
import type { Context } from "../http/context.js";
import { UnavailableError } from "../errors/framework-error.js";
import type { Run } from "../http/middleware.js";
import { shown, failure } from "./failure.js";
import {
  LayerTrial,
  type TrialResult,
  type TrialRequest,
  type TrialOptions,
  type LayerUnderTest,
} from "./layer-trial.js";
import { tracing } from "../tracing/tracing.js";

/**
 * A body that breaks: after as many chunks as it is told, 0 for one that never gives any. It tells whether it was let go.
 */
export class FailingStream extends Readable {
  /** Resolves when it was destroyed, by its own error or by whoever gave up on it. */
  readonly released: Promise<void>;

  /** @param error `undefined`: it neither goes on nor ends. */
  constructor(
    private chunks: number,
    private readonly error: Error | undefined,
  ) {
    super();
    this.released = new Promise((resolve) => this.once("close", resolve));
    // Whoever sends it listens; while nobody does, a error must not end the process.
    this.on("error", () => {});
  }

  override _read(): void {
    // Not at once, so that what was given before is on its way.
    setImmediate(() => {
      this.chunks -= 1;
      if (this.chunks >= 0) this.push("chunk of a body\n".repeat(64));
      else if (this.error !== undefined) this.destroy(this.error);
    });
  }
}

/**
 * The rules that a layer must keep, each as something that is tried on it. A rule returns what it found wrong, as sentences about
 * the layer; nothing found is an empty list.
 */
export interface RuleInput {
  readonly trial: LayerTrial;
  /** A request that the layer is expected to let through. */
  readonly request: TrialRequest;
  /** It answers exceptions instead of letting them pass. */
  readonly answersErrors: boolean;
}

/** What was tried, and what was seen of it. */
export type LayerRule = (tried: RuleInput) => Promise<readonly string[]>;

const TEXT = "an answer from further in";
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const answer: Run = (ctx) => answerWith(ctx, TEXT);
const answerLater: Run = async (ctx) => {
  await turn();
  answerWith(ctx, TEXT);
};

function answersNormally(inner: Run): LayerRule {
  return async ({ trial, request }) => {
    const { observation, response } = await trial.ask(inner, request);
    if (response === undefined) return [...observation.faults, "gave no answer"];
    await response.arrayBuffer();
    return observation.faults;
  };
}

/** What is written by hand is final: the layer has nothing more to say about the head. */
const writtenByHand = answersNormally(async ({ res }) => {
  res.writeHead(200, { "Content-Type": "text/plain" });
  res.write(TEXT);
  await turn();
  res.end();
});

function passesException(value: unknown, inner: (value: unknown) => Run): LayerRule {
  return async ({ trial, request, answersErrors }) => {
    const { observation, response } = await trial.ask(inner(value), request);
    if (observation.calls === 0) return observation.faults;
    const { thrown, faults } = observation;
    if (answersErrors && thrown === undefined) {
      return (response?.status ?? 0) >= 400
        ? faults
        : [...faults, `swallowed ${shown(value)}: it has to be answered as an error`];
    }
    if (thrown === undefined) return [...faults, `swallowed ${shown(value)}: await next, and let what it throws pass`];
    if (thrown.value !== value) return [...faults, `threw ${shown(thrown.value)} in place of ${shown(value)}`];
    return faults;
  };
}

const throwing =
  (value: unknown): Run =>
  () => {
    throw value;
  };
const rejecting =
  (value: unknown): Run =>
  async () => {
    await turn();
    throw value;
  };

/** The same head as for GET, and no body (RFC 9110 section 9.3.2). */
const answersHead: LayerRule = async ({ trial, request }) => {
  const [get, head] = [await trial.ask(answer, request), await trial.ask(answer, { ...request, method: "HEAD" })];
  await get.response?.arrayBuffer();
  const faults = [...head.observation.faults];
  if (request.method !== undefined && request.method !== "GET") return faults;
  const [expected, seen] = [headOf(get), headOf(head)];
  if (expected !== seen) faults.push(`answered HEAD with ${seen} and GET with ${expected}`);
  return faults;
};

function headOf({ response }: TrialResult): string {
  return response === undefined
    ? "no answer"
    : `${response.status} ${response.headers.get("content-type") ?? "without a type"}`;
}

/** A body that breaks must look broken: an error in its place, or a connection that is cut, never a clean end. */
function showsFailure(chunks: number): LayerRule {
  return async ({ trial, request }) => {
    const body = new FailingStream(chunks, new Error("the stream failed"));
    const { observation, response } = await trial.ask((ctx) => answerWith(ctx, body), request);
    const faults = [...observation.faults];
    if (observation.calls > 0 && (await endedWell(response)))
      faults.push("gave a body whose stream failed a clean end");
    return faults;
  };
}

async function endedWell(response: Response | undefined): Promise<boolean> {
  if (response === undefined || response.status >= 500) return false;
  return response.arrayBuffer().then(
    () => true,
    () => false,
  );
}

/** A stream nobody will read holds a file or a connection until it is destroyed. */
function releasesStream(ask: (tried: RuleInput, inner: Run) => Promise<TrialResult>, when: string): LayerRule {
  return async (tried) => {
    const body = new FailingStream(1, undefined);
    const { observation } = await ask(tried, (ctx: Context) => answerWith(ctx, body));
    if (observation.calls === 0) return observation.faults;
    const released = await Promise.race([body.released.then(() => true), timeIsUp(tried.request.signal)]);
    body.destroy();
    return released ? observation.faults : [...observation.faults, `kept a body stream open ${when}`];
  };
}

const onHead = releasesStream(
  ({ trial, request }, inner) => trial.ask(inner, { ...request, method: "HEAD" }),
  "after a HEAD request",
);

const onClientGone = releasesStream(async ({ trial, request }, inner) => {
  const outcome = await trial.ask(inner, request);
  await outcome.response?.body?.cancel();
  return outcome;
}, "after the client had left");

function timeIsUp(signal: AbortSignal | undefined): Promise<false> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve(false);
    signal?.addEventListener("abort", () => resolve(false));
  });
}

/** In the order in which they are tried; the name completes "when …". */
export const RULES: readonly (readonly [string, LayerRule])[] = [
  ["the next one answers", answersNormally(answer)],
  ["the next one answers later", answersNormally(answerLater)],
  ["the next one does not answer", answersNormally(() => {})],
  ["the answer is written by hand", writtenByHand],
  ["the next one throws an error", passesException(new Error("further in"), throwing)],
  ["the next one rejects with an error", passesException(new Error("further in"), rejecting)],
  ["the next one throws an error with a status", passesException(new UnavailableError("further in"), throwing)],
  ["the next one rejects with null", passesException(null, rejecting)],
  ["the method is HEAD", answersHead],
  ["the body fails before its first byte", showsFailure(0)],
  ["the body fails after its first bytes", showsFailure(3)],
  ["the method is HEAD and the body a stream", onHead],
  ["the client leaves while the body is sent", onClientGone],
];

export interface LayerContractOptions extends TrialOptions {
  /** A request that the layer lets through; GET of `/` unless given. */
  readonly request?: TrialRequest;
  /** A request that the layer answers itself: it is tried too, and next must not be called. */
  readonly refused?: TrialRequest;
  /** The layer turns exceptions into answers; they need not pass. */
  readonly answersErrors?: boolean;
  /** How long one request may take, in milliseconds; 2000 unless given. */
  readonly limitMs?: number;
}

/**
 * @throws AssertionError listing everything that was seen to break the contract, or saying that the layer let nothing through, so that
 * most of the contract could not be tried.
 */
export function obeysLayerContract(layer: LayerUnderTest, options: LayerContractOptions = {}): Promise<void> {
  // What the trials provoke is nobody's log.
  return tracing.withSubscriber(tracing.registry(), () => tryAll(layer, options));
}

async function tryAll(layer: LayerUnderTest, options: LayerContractOptions): Promise<void> {
  const { request = {}, refused, answersErrors = false, limitMs = 2000 } = options;
  await using trial = await LayerTrial.start(layer, options);
  const faults: string[] = [];
  const attempt = async (when: string, asked: TrialRequest, rule: LayerRule): Promise<void> => {
    const signal = AbortSignal.timeout(limitMs);
    const found = [...(await rule({ trial, request: { ...asked, signal }, answersErrors }))];
    if (signal.aborted) found.push(`did not come to an end within ${limitMs} ms`);
    for (const fault of found) faults.push(`when ${when}, it ${fault}`);
  };

  if (refused !== undefined) await attempt("the request is one to refuse", refused, refuses);
  for (const [when, rule] of RULES) {
    await attempt(when, request, rule);
    // The rules that follow have next fail. A promise that the layer derives from it would then be an unhandled rejection.
    if (trial.detached) break;
  }
  if (trial.passed === 0) faults.push("it never called next: give a `request` that it lets through");
  if (faults.length > 0) throw broken(layer, faults);
}

const refuses: LayerRule = async ({ trial, request }) => {
  const { observation, response } = await trial.ask(() => {}, request);
  if (observation.calls > 0) return ["called next"];
  return response === undefined ? [...observation.faults, "gave no answer"] : observation.faults;
};

function broken(layer: LayerUnderTest, faults: readonly string[]): Error {
  const name = typeof layer === "function" ? layer.name : layer.constructor.name;
  const list = faults.map((fault) => `\n  - ${fault}`).join("");
  return failure(`${name === "" ? "the layer" : name} does not obey the layer contract:${list}`, {
    expected: [],
    actual: faults,
  });
}
