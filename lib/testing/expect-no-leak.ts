/**
 * Sends a secret that can be recognised wherever a request can hold one, to everything the application answers, and looks for it where it
 * must never be: in logs, spans, metrics, error bodies and the headers of answers. Requests that the test made itself with the same
 * canary are looked through as well, as far as they left traces in logs, spans and metrics.
 *
 * It asks every route by every method that the route has, DELETE included: hand in doubles where that matters. A handler that sends
 * back in a header what it was sent, such as a redirect which keeps the query, is reported too.
 *
 * @example
 * await expectNoLeak(app, "canary4711secret");
 */
import { Metrics, PROMETHEUS_CONTENT_TYPE } from "../observe/metrics/metrics.js";
import { canaryBytes, canaryRequests, encoded, type CanaryRequest } from "./canary-requests.js";
import { failure, shown } from "./failure.js";
import type { TestApp } from "./test-app.js";

/** A place that was looked at, and what it says. */
type Evidence = readonly [place: string, text: string];

const SHAPE = /^[A-Za-z0-9]{8,64}$/;
const ANSWER_MS = 2000;
const SHOWN_FINDINGS = 10;

/**
 * @throws AssertionError naming each place where the canary was found, or what could not be looked at.
 * @throws TypeError for a canary that is not 8 to 64 letters and digits: others have too many spellings.
 */
export async function expectNoLeak(app: TestApp, canary: string): Promise<void> {
  if (!SHAPE.test(canary)) throw new TypeError(`a canary is 8 to 64 letters and digits, not ${shown(canary)}`);
  const answers: Evidence[] = [];
  for (const request of canaryRequests(canary, app.application.routes().descriptors())) {
    answers.push(...(await answerTo(app, request)));
  }
  if (answers.length === 0)
    throw failure("no request was answered, so there was nothing to look at; was the application stopped?");
  for (const bytes of canaryBytes(canary))
    answers.push(["an answer of the parser", String(await app.raw(bytes, { quietMs: 20 }))]);
  if (app.logs.lines().length === 0) throw failure("not one line was logged, so the log could not be looked at");

  const found = [...answers, ...tracesIn(app)].filter(([, text]) => indexIn(text, canary) >= 0);
  if (found.length > 0) throw leaked(canary, found);
}

async function answerTo(app: TestApp, { method, path, options }: CanaryRequest): Promise<readonly Evidence[]> {
  const where = `${method} ${path.split(/[?#]/, 1)[0] ?? ""}`;
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await app.request(path, { ...options, method, signal });
    const headers: Evidence[] = [...response.headers].map(([name, value]) => [
      `a header of ${where} (${response.status})`,
      `${name}: ${value}`,
    ]);
    if (isLookedAt(response)) return [...headers, [`the body of ${where} (${response.status})`, await response.text()]];
    await response.body?.cancel();
    return headers;
  } catch {
    // A handler may wait for ever, or cut the connection: then nothing was said that could be looked at.
    return [];
  }
}

/** The body of a success is the application's own business, but for the metrics page. */
function isLookedAt({ status, headers }: Response): boolean {
  return status >= 400 || headers.get("content-type") === PROMETHEUS_CONTENT_TYPE;
}

function tracesIn(app: TestApp): readonly Evidence[] {
  return [
    ...app.logs.lines().map((line): Evidence => ["a log line", line]),
    ...app.watch.spans.texts().map((text): Evidence => ["a span", text]),
    ["the metrics", app.resolve(Metrics).render()],
  ];
}

/** Where the canary stands, -1 where it does not; a host name in any case, and as `Basic` writes it. */
function indexIn(text: string, canary: string): number {
  const at = text.toLowerCase().indexOf(canary.toLowerCase());
  return at < 0 ? text.indexOf(encoded(canary)) : at;
}

function around(text: string, canary: string): string {
  const at = indexIn(text, canary);
  return text.slice(Math.max(0, at - 100), at + 150);
}

function leaked(canary: string, found: readonly Evidence[]): Error {
  // The first of each place says enough.
  const places = [...new Map(found.toReversed())]
    .toReversed()
    .map(([place, text]) => `\n  - ${place}: ${shown(around(text, canary))}`);
  const more = places.length > SHOWN_FINDINGS ? `\n  … and ${places.length - SHOWN_FINDINGS} more places` : "";
  const list = places.slice(0, SHOWN_FINDINGS).join("");
  return failure(`the canary ${canary} was found in ${found.length} place(s):${list}${more}`, {
    expected: [],
    actual: found,
  });
}
