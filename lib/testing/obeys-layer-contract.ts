/**
 * The contract of every layer, tried on a real socket. It calls next at most once, waits for it, and never calls it after it has answered;
 * it writes no header after the head was sent; what next throws passes through it; HEAD is answered as GET is; a body that fails is not
 * given a clean end, and a body that is no longer read is let go. For a `Middleware`, a `Layer` and a Koa function alike.
 *
 * @example
 * it("obeys the layer contract", () => obeysLayerContract(new RequestIdLayer()));
 */
import { tracing } from "../tracing/tracing.js";
import { failure } from "./failure.js";
import { RULES, type Rule } from "./layer-rules.js";
import { LayerTrial, type TrialOptions, type TrialRequest, type TriedLayer } from "./layer-trial.js";

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
export function obeysLayerContract(layer: TriedLayer, options: LayerContractOptions = {}): Promise<void> {
  // What the trials provoke is nobody's log.
  return tracing.withSubscriber(tracing.registry(), () => tryAll(layer, options));
}

async function tryAll(layer: TriedLayer, options: LayerContractOptions): Promise<void> {
  const { request = {}, refused, answersErrors = false, limitMs = 2000 } = options;
  await using trial = await LayerTrial.of(layer, options);
  const faults: string[] = [];
  const attempt = async (when: string, asked: TrialRequest, rule: Rule): Promise<void> => {
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

const refuses: Rule = async ({ trial, request }) => {
  const { observation, response } = await trial.ask(() => {}, request);
  if (observation.calls > 0) return ["called next"];
  return response === undefined ? [...observation.faults, "gave no answer"] : observation.faults;
};

function broken(layer: TriedLayer, faults: readonly string[]): Error {
  const name = typeof layer === "function" ? layer.name : layer.constructor.name;
  const list = faults.map((fault) => `\n  - ${fault}`).join("");
  return failure(`${name === "" ? "the layer" : name} does not obey the layer contract:${list}`, {
    expected: [],
    actual: faults,
  });
}
