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
import type { RouteDescriptor } from "../routing/handler.js";
import type { RequestOptions } from "./transport.js";
import { Metrics, PROMETHEUS_CONTENT_TYPE } from "../observe/metrics/metrics.js";
import { failure, shown } from "./failure.js";
import type { TestApp } from "./test-app.js";

/**
 * The requests of `expectNoLeak`: to every route, to no route and by the wrong method, with the canary wherever a request can hold a
 * secret. Not in the path and not in names: those are what logs and messages are for.
 */
export interface CanaryRequest {
  readonly method: string;
  readonly path: string;
  readonly options: RequestOptions;
}

const NOWHERE = "/no-such-page-here";
const WITHOUT_BODY: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

export function* canaryRequests(canary: string, routes: readonly RouteDescriptor[]): Iterable<CanaryRequest> {
  const places = routes.map(({ method, path }) => ({ method: method === "ANY" ? "POST" : method, path: filled(path) }));
  for (const { method, path } of [...places, { method: "GET", path: NOWHERE }, { method: "POST", path: NOWHERE }]) {
    const target = `${path}?${queryOf(canary)}`;
    yield { method, path: target, options: { headers: headersOf(canary) } };
    yield { method, path: target, options: { headers: { Authorization: `Basic ${basicCredentials(canary)}` } } };
    yield { method: "TRACE", path: target, options: { headers: headersOf(canary) } };
    if (WITHOUT_BODY.has(method)) continue;
    for (const body of bodiesOf(canary)) yield { method, path: target, options: withHeaders(canary, body) };
  }
  yield { method: "GET", path: `${NOWHERE}%zz?${queryOf(canary)}`, options: { headers: headersOf(canary) } };
  yield { method: "OPTIONS", path: places[0]?.path ?? NOWHERE, options: { headers: preflightOf(canary) } };
  for (const path of unusualTargets(canary)) {
    yield { method: "GET", path, options: { headers: headersOf(canary) } };
    yield { method: "OPTIONS", path, options: { headers: headersOf(canary) } };
  }
}

/** What Node's parser refuses by itself. */
export function canaryRawRequests(canary: string): readonly string[] {
  return [
    `GET /?${queryOf(canary)} HTTP/1.1\r\nHost: x\r\nX-Canary: ${canary.repeat(20_000 / canary.length)}\r\n\r\n`,
    `GET /?${queryOf(canary)} HTTP/1.1\r\nHost: x\r\nX Canary: ${canary}\r\n\r\n`,
    `POST /?${queryOf(canary)} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${canary}\r\n`,
    `GET / HTTP/1.1\r\nHost: x\r\nExpect: ${canary}\r\n\r\n`,
  ];
}

/** As it stands in a header of the `Basic` scheme. */
export function basicCredentials(canary: string): string {
  return Buffer.from(`canary:${canary}`).toString("base64");
}

function filled(template: string): string {
  return template.replaceAll(/\{[^}]*\}/g, "1");
}

/** Queries of targets that do not begin with a slash, credentials in an authority, and fragments, which no target has by right. */
function unusualTargets(canary: string): readonly string[] {
  const query = queryOf(canary);
  const absolute = [`http://x?${query}`, `http://x#${query}`, `http://user:${canary}@x${NOWHERE}?${query}`];
  return [...absolute, `*?${query}`, `*#${query}`, `${NOWHERE}#${query}`, `${NOWHERE}?${query}#${query}`];
}

function queryOf(canary: string): string {
  return `canary=${canary}&token=${canary}&q=${canary}`;
}

function headersOf(canary: string): Record<string, string> {
  const plain = ["Proxy-Authorization", "X-Api-Key", "X-Auth-Token", "X-Canary", "X-CSRF-Token", "X-XSRF-Token"];
  const told = ["Accept", "Accept-Language", "From", "User-Agent", "Via", "X-Inertia-Version"];
  const forwarded = ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"];
  return {
    ...Object.fromEntries([...plain, ...told, ...forwarded].map((name) => [name, canary])),
    Authorization: `Bearer ${canary}`,
    Cookie: ["id", "session", "framework-id", "__Host-id", "framework-csrf"]
      .map((name) => `${name}=${canary}`)
      .join("; "),
    "If-None-Match": `"${canary}"`,
    Origin: `https://${canary}.invalid`,
    Referer: `https://${canary}.invalid/?${canary}`,
    // A valid id is meant to be logged and sent back; this one is not valid.
    "X-Request-Id": `${canary} ${canary}`,
    traceparent: "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
    tracestate: `vendor=${canary}`,
  };
}

function preflightOf(canary: string): Record<string, string> {
  return { ...headersOf(canary), "Access-Control-Request-Method": "PUT" };
}

function bodiesOf(canary: string): readonly RequestOptions[] {
  const fields = { canary, password: canary, note: canary, name: canary, title: canary, id: canary };
  const json = { "Content-Type": "application/json" };
  return [
    { json: { ...fields, nested: { token: canary, list: [canary] } } },
    { json: canary },
    { form: { ...fields, _token: canary } },
    { body: `{"canary":"${canary}`, headers: json },
    { body: canary, headers: { "Content-Type": `application/json; charset=${canary}` } },
    { body: canary, headers: { "Content-Type": `text/${canary}` } },
    { body: canary, headers: { ...json, "Content-Encoding": canary } },
    { body: `"${canary.repeat(3_000_000 / canary.length)}"`, headers: json },
  ];
}

function withHeaders(canary: string, { headers, ...body }: RequestOptions): RequestOptions {
  return { ...body, headers: { ...headersOf(canary), ...(headers as Record<string, string> | undefined) } };
}

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
  for (const bytes of canaryRawRequests(canary))
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
  return at < 0 ? text.indexOf(basicCredentials(canary)) : at;
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
