/**
 * The contract of every layer, tested on a real socket. A layer calls next at most once and awaits it. It does not call next after it has
 * responded, and writes no header after the head was sent. An exception of next passes through it. It responds to HEAD as to GET. A
 * body that fails does not end as if it were complete, and an unread body stream is destroyed. The contract is the same for a
 * `Middleware`, a `Layer` and a Koa function.
 *
 * @example
 * it("obeys the layer contract", () => obeysLayerContract(new RequestIdLayer()));
 */
import { Readable } from "node:stream";
import { UnavailableError } from "../../errors/framework-error.js";
import type { Context } from "../../http/request/context.js";
import type { Run } from "../../http/middleware.js";
import { respondWith } from "../../http/response/returned-value.js";
import { tracing } from "../../tracing/tracing.js";
import { describeValue } from "../failure.js";
import { createContractError } from "./contract.js";
import {
  LayerTrial,
  type LayerUnderTest,
  type TrialOptions,
  type TrialRequest,
  type TrialResult,
} from "./layer-trial.js";

export interface LayerContractOptions extends TrialOptions {
  /** A request that the layer lets through; the default is GET of `/`. */
  readonly request?: TrialRequest;
  /** A request that the layer refuses. The layer must not call next for it. */
  readonly refused?: TrialRequest;
  /** The layer converts exceptions to responses, so an exception of next need not pass through it. */
  readonly respondsToErrors?: boolean;
  /** The time limit of one request, in milliseconds; the default is 2000. */
  readonly limitMs?: number;
}

/** @throws AssertionError listing every fault. A layer that never calls next fails too, because most rules need a call of next. */
export function obeysLayerContract(layer: LayerUnderTest, options: LayerContractOptions = {}): Promise<void> {
  // The rules provoke errors on purpose. An empty registry keeps them out of the log.
  return tracing.withSubscriber(tracing.registry(), () => tryAllRules(layer, options));
}

async function tryAllRules(layer: LayerUnderTest, options: LayerContractOptions): Promise<void> {
  const { request = {}, refused, respondsToErrors = false, limitMs = 2000 } = options;
  await using trial = await LayerTrial.start(layer, options);
  const faults: string[] = [];
  const tryRule = async (when: string, trialRequest: TrialRequest, rule: LayerRule): Promise<void> => {
    const signal = AbortSignal.timeout(limitMs);
    const found = [...(await rule({ trial, request: { ...trialRequest, signal }, respondsToErrors }))];
    if (signal.aborted) found.push(`did not come to an end within ${limitMs} ms`);
    for (const fault of found) faults.push(`when ${when}, it ${fault}`);
  };

  if (refused !== undefined) await tryRule("the request is one to refuse", refused, refuses);
  for (const [when, rule] of RULES) {
    await tryRule(when, request, rule);
    // In later rules next fails. A promise that such a layer derives from next would then be an unhandled rejection.
    if (trial.returnedEarly) break;
  }
  if (trial.passed === 0) faults.push("it never called next: give a `request` that it lets through");
  if (faults.length === 0) return;
  const name = typeof layer === "function" ? layer.name : layer.constructor.name;
  throw createContractError(`${name === "" ? "the layer" : name} does not obey the layer contract`, faults);
}

interface RuleInput {
  readonly trial: LayerTrial;
  /** A request that the layer is expected to let through. */
  readonly request: TrialRequest;
  readonly respondsToErrors: boolean;
}

/** Returns the faults of the layer, each the rest of a sentence that starts with "it". */
type LayerRule = (input: RuleInput) => Promise<readonly string[]>;

/** In the order of the trials. Each name completes "when …". */
const RULES: readonly (readonly [string, LayerRule])[] = [
  ["the next handler responds", respondsNormally(respond)],
  ["the next handler responds later", respondsNormally(respondLater)],
  ["the next handler does not respond", respondsNormally(() => {})],
  ["the response is written by hand", respondsNormally(writeRawResponse)],
  ["the next handler throws an error", passesException(new Error("further in"), throwWith)],
  ["the next handler rejects with an error", passesException(new Error("further in"), rejectWith)],
  ["the next handler throws an error with a status", passesException(new UnavailableError("further in"), throwWith)],
  ["the next handler rejects with null", passesException(null, rejectWith)],
  ["the method is HEAD", respondsToHead],
  ["the body fails before its first byte", showsFailure(0)],
  ["the body fails after its first bytes", showsFailure(3)],
  ["the method is HEAD and the body a stream", destroysStream(sendHead, "after a HEAD request")],
  ["the client leaves while the body is sent", destroysStream(sendAndLeave, "after the client had left")],
];

async function refuses({ trial, request }: RuleInput): Promise<readonly string[]> {
  const { observation, response } = await trial.send(() => {}, request);
  if (observation.calls > 0) return ["called next"];
  return response === undefined ? [...observation.faults, "gave no response"] : observation.faults;
}

function respondsNormally(inner: Run): LayerRule {
  return async ({ trial, request }) => {
    const { observation, response } = await trial.send(inner, request);
    if (response === undefined) return [...observation.faults, "gave no response"];
    await response.arrayBuffer();
    return observation.faults;
  };
}

function passesException(value: unknown, inner: (value: unknown) => Run): LayerRule {
  return async ({ trial, request, respondsToErrors }) => {
    const { observation, response } = await trial.send(inner(value), request);
    const { calls, faults, thrown } = observation;
    if (calls === 0 || (thrown !== undefined && thrown.value === value)) return faults;
    if (thrown !== undefined)
      return [...faults, `threw ${describeValue(thrown.value)} in place of ${describeValue(value)}`];
    if (!respondsToErrors)
      return [...faults, `swallowed ${describeValue(value)}: await next, and let what it throws pass`];
    if ((response?.status ?? 0) >= 400) return faults;
    return [...faults, `swallowed ${describeValue(value)}: it has to become an error response`];
  };
}

/** The same status and type as for GET (RFC 9110 section 9.3.2). */
async function respondsToHead({ trial, request }: RuleInput): Promise<readonly string[]> {
  const [get, head] = [await trial.send(respond, request), await trial.send(respond, { ...request, method: "HEAD" })];
  await get.response?.arrayBuffer();
  const faults = [...head.observation.faults];
  if (request.method !== undefined && request.method !== "GET") return faults;
  const [expected, actual] = [describeHead(get), describeHead(head)];
  if (expected !== actual) faults.push(`responded to HEAD with ${actual} and to GET with ${expected}`);
  return faults;
}

function describeHead({ response }: TrialResult): string {
  if (response === undefined) return "no response";
  return `${response.status} ${response.headers.get("content-type") ?? "without a type"}`;
}

/** The client must see that a body failed: an error response, or a connection that is cut (RFC 9112 section 8). */
function showsFailure(chunks: number): LayerRule {
  return async ({ trial, request }) => {
    const body = new FailingStream(chunks, new Error("the stream failed"));
    const { observation, response } = await trial.send((ctx) => respondWith(ctx, body), request);
    const faults = [...observation.faults];
    if (observation.calls > 0 && (await isComplete(response)))
      faults.push("gave a body whose stream failed a clean end");
    return faults;
  };
}

async function isComplete(response: Response | undefined): Promise<boolean> {
  if (response === undefined || response.status >= 500) return false;
  return response.arrayBuffer().then(
    () => true,
    () => false,
  );
}

/** A stream that is not destroyed keeps its file or its connection open. */
function destroysStream(send: (input: RuleInput, inner: Run) => Promise<TrialResult>, when: string): LayerRule {
  return async (input) => {
    const body = new FailingStream(1, undefined);
    const { observation } = await send(input, (ctx) => respondWith(ctx, body));
    if (observation.calls === 0) return observation.faults;
    const isDestroyed = await Promise.race([
      body.whenDestroyed.then(() => true),
      waitForTimeLimit(input.request.signal),
    ]);
    body.destroy();
    return isDestroyed ? observation.faults : [...observation.faults, `left a body stream open ${when}`];
  };
}

function sendHead({ trial, request }: RuleInput, inner: Run): Promise<TrialResult> {
  return trial.send(inner, { ...request, method: "HEAD" });
}

async function sendAndLeave({ trial, request }: RuleInput, inner: Run): Promise<TrialResult> {
  const result = await trial.send(inner, request);
  await result.response?.body?.cancel();
  return result;
}

function waitForTimeLimit(signal: AbortSignal | undefined): Promise<false> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve(false);
    signal?.addEventListener("abort", () => resolve(false));
  });
}

const TEXT = "a response from further in";

const nextImmediate = () => new Promise<void>((resolve) => setImmediate(resolve));

function respond(ctx: Context): void {
  respondWith(ctx, TEXT);
}

async function respondLater(ctx: Context): Promise<void> {
  await nextImmediate();
  respondWith(ctx, TEXT);
}

async function writeRawResponse({ res }: Context): Promise<void> {
  res.writeHead(200, { "Content-Type": "text/plain" });
  res.write(TEXT);
  await nextImmediate();
  res.end();
}

function throwWith(value: unknown): Run {
  return () => {
    throw value;
  };
}

function rejectWith(value: unknown): Run {
  return async () => {
    await nextImmediate();
    throw value;
  };
}

/** A body that gives `chunks` chunks and then fails; without an error it neither continues nor ends. */
class FailingStream extends Readable {
  readonly whenDestroyed: Promise<void>;

  constructor(
    private chunks: number,
    private readonly error: Error | undefined,
  ) {
    super();
    this.whenDestroyed = new Promise((resolve) => this.once("close", resolve));
    // An error event without a listener would end the test process.
    this.on("error", () => {});
  }

  override _read(): void {
    // One iteration of the event loop later, so that the previous chunk is on its way.
    setImmediate(() => {
      this.chunks -= 1;
      if (this.chunks >= 0) this.push("chunk of a body\n".repeat(64));
      else if (this.error !== undefined) this.destroy(this.error);
    });
  }
}
