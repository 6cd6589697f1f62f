/**
 * The rules that a layer must keep, each as something that is tried on it. A rule returns what it found wrong, as sentences about
 * the layer; nothing found is an empty list.
 */
import { answerWith } from "../http/returned-value.js";
import type { Context } from "../http/context.js";
import { UnavailableError } from "../errors/framework-error.js";
import type { Run } from "../http/middleware.js";
import { FailingStream } from "./failing-stream.js";
import { shown } from "./failure.js";
import type { LayerTrial, Outcome, TrialRequest } from "./layer-trial.js";

export interface Tried {
  readonly trial: LayerTrial;
  /** A request that the layer is expected to let through. */
  readonly request: TrialRequest;
  /** It answers exceptions instead of letting them pass. */
  readonly answersErrors: boolean;
}

/** What was tried, and what was seen of it. */
export type Rule = (tried: Tried) => Promise<readonly string[]>;

const TEXT = "an answer from further in";
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const answer: Run = (ctx) => answerWith(ctx, TEXT);
const answerLater: Run = async (ctx) => {
  await turn();
  answerWith(ctx, TEXT);
};

function answersNormally(inner: Run): Rule {
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

function passesException(value: unknown, inner: (value: unknown) => Run): Rule {
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
const answersHead: Rule = async ({ trial, request }) => {
  const [get, head] = [await trial.ask(answer, request), await trial.ask(answer, { ...request, method: "HEAD" })];
  await get.response?.arrayBuffer();
  const faults = [...head.observation.faults];
  if (request.method !== undefined && request.method !== "GET") return faults;
  const [expected, seen] = [headOf(get), headOf(head)];
  if (expected !== seen) faults.push(`answered HEAD with ${seen} and GET with ${expected}`);
  return faults;
};

function headOf({ response }: Outcome): string {
  return response === undefined
    ? "no answer"
    : `${response.status} ${response.headers.get("content-type") ?? "without a type"}`;
}

/** A body that breaks must look broken: an error in its place, or a connection that is cut, never a clean end. */
function showsFailure(chunks: number): Rule {
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
function releasesStream(ask: (tried: Tried, inner: Run) => Promise<Outcome>, when: string): Rule {
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
export const RULES: readonly (readonly [string, Rule])[] = [
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
