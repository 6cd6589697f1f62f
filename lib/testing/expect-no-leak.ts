/**
 * Searches an application for leaks of a secret. It sends a recognisable value, the canary, in every part of a request that can hold a
 * secret. Then it searches logs, spans, metrics, error bodies and response headers for it. Requests that the test sent before with the
 * same canary count too, as far as logs, spans and metrics show them.
 *
 * It sends requests to every route, by every method of the route, DELETE included: pass doubles for handlers with effects. It reports a
 * handler that copies its input into a header too, such as a redirect that keeps the query.
 *
 * @example
 * await expectNoLeak(app, "canary4711secret");
 */
import type { RouteDescriptor } from "../routing/route.js";
import { Metrics, PROMETHEUS_CONTENT_TYPE } from "../observe/metrics/metrics.js";
import { createFailure, describeValue } from "./failure.js";
import type { TestApp } from "./test-app.js";
import type { RequestOptions } from "./transport.js";

/** A text of the application, and its origin for the message. */
type Evidence = readonly [origin: string, text: string];

const CANARY = /^[A-Za-z0-9]{8,64}$/;
const RESPONSE_LIMIT_MS = 2000;
const MAX_SHOWN_ORIGINS = 10;
const NO_ROUTE = "/no-such-page-here";
const METHODS_WITHOUT_BODY: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * @throws AssertionError naming the origin of each text with the canary; also if there were no responses or no log lines to search
 * @throws TypeError for a canary that is not 8 to 64 letters and digits: other characters have several encodings
 */
export async function expectNoLeak(app: TestApp, canary: string): Promise<void> {
  if (!CANARY.test(canary)) throw new TypeError(`a canary is 8 to 64 letters and digits, not ${describeValue(canary)}`);
  const responses: Evidence[] = [];
  for (const request of createCanaryRequests(canary, app.application.routes().descriptors())) {
    responses.push(...(await collectEvidence(app, request)));
  }
  if (responses.length === 0)
    throw createFailure("no request got a response, so there was no text to search: is the application stopped?");
  for (const bytes of createRawRequests(canary))
    responses.push(["a response of Node's parser", String(await app.raw(bytes, { quietMs: 20 }))]);
  if (app.logs.lines().length === 0)
    throw createFailure("the application logged no line, so there was no text to search");

  const found = [...responses, ...listObservations(app)].filter(([, text]) => findCanary(text, canary) >= 0);
  if (found.length > 0) throw createLeakError(canary, found);
}

async function collectEvidence(app: TestApp, { method, path, options }: CanaryRequest): Promise<readonly Evidence[]> {
  const request = `${method} ${path.split(/[?#]/, 1)[0] ?? ""}`;
  try {
    const signal = AbortSignal.timeout(RESPONSE_LIMIT_MS);
    const response = await app.request(path, { ...options, method, signal });
    const { status } = response;
    const evidence = [...response.headers].map(([name, value]): Evidence => [
      `a header of ${request} (${status})`,
      `${name}: ${value}`,
    ]);
    if (isSearched(response)) evidence.push([`the body of ${request} (${status})`, await response.text()]);
    else await response.body?.cancel();
    return evidence;
  } catch {
    // A handler may wait for ever, or cut the connection. Then there is no response to search.
    return [];
  }
}

/** The body of a successful response belongs to the application, except on the metrics page. */
function isSearched({ status, headers }: Response): boolean {
  return status >= 400 || headers.get("content-type") === PROMETHEUS_CONTENT_TYPE;
}

function listObservations(app: TestApp): readonly Evidence[] {
  return [
    ...app.logs.lines().map((line): Evidence => ["a log line", line]),
    ...app.captured.spans.texts().map((text): Evidence => ["a span", text]),
    ["the metrics", app.resolve(Metrics).render()],
  ];
}

/** The position of the canary, -1 if it is absent. A host name may change its case; `Basic` credentials encode it. */
function findCanary(text: string, canary: string): number {
  const at = text.toLowerCase().indexOf(canary.toLowerCase());
  return at < 0 ? text.indexOf(formatBasicCredentials(canary)) : at;
}

function getExcerpt(text: string, canary: string): string {
  const at = findCanary(text, canary);
  return text.slice(Math.max(0, at - 100), at + 150);
}

function createLeakError(canary: string, found: readonly Evidence[]): Error {
  // One text of each origin, the first.
  const origins = [...new Map(found.toReversed())]
    .toReversed()
    .map(([origin, text]) => `\n  - ${origin}: ${describeValue(getExcerpt(text, canary))}`);
  const more = origins.length > MAX_SHOWN_ORIGINS ? `\n  … and ${origins.length - MAX_SHOWN_ORIGINS} more places` : "";
  const list = origins.slice(0, MAX_SHOWN_ORIGINS).join("");
  return createFailure(`the canary ${canary} was found in ${found.length} place(s):${list}${more}`, {
    expected: [],
    actual: found,
  });
}

interface CanaryRequest {
  readonly method: string;
  readonly path: string;
  readonly options: RequestOptions;
}

/**
 * Requests to every route, to an unknown path and by a wrong method. The canary is not in the path and not in a name of a header or a
 * field, because logs and messages quote those.
 */
export function* createCanaryRequests(canary: string, routes: readonly RouteDescriptor[]): Iterable<CanaryRequest> {
  const targets = routes.map(({ method, path }) => ({
    method: method === "ANY" ? "POST" : method,
    path: fillTemplate(path),
  }));
  for (const { method, path } of [...targets, { method: "GET", path: NO_ROUTE }, { method: "POST", path: NO_ROUTE }]) {
    const target = `${path}?${formatQuery(canary)}`;
    yield { method, path: target, options: { headers: createHeaders(canary) } };
    yield { method, path: target, options: { headers: { Authorization: `Basic ${formatBasicCredentials(canary)}` } } };
    yield { method: "TRACE", path: target, options: { headers: createHeaders(canary) } };
    if (METHODS_WITHOUT_BODY.has(method)) continue;
    for (const body of createBodies(canary)) yield { method, path: target, options: withHeaders(canary, body) };
  }
  yield { method: "GET", path: `${NO_ROUTE}%zz?${formatQuery(canary)}`, options: { headers: createHeaders(canary) } };
  yield { method: "OPTIONS", path: targets[0]?.path ?? NO_ROUTE, options: { headers: createPreflightHeaders(canary) } };
  for (const path of createUnusualTargets(canary)) {
    yield { method: "GET", path, options: { headers: createHeaders(canary) } };
    yield { method: "OPTIONS", path, options: { headers: createHeaders(canary) } };
  }
}

/** Requests that Node's parser refuses. */
export function createRawRequests(canary: string): readonly string[] {
  return [
    `GET /?${formatQuery(canary)} HTTP/1.1\r\nHost: x\r\nX-Canary: ${canary.repeat(20_000 / canary.length)}\r\n\r\n`,
    `GET /?${formatQuery(canary)} HTTP/1.1\r\nHost: x\r\nX Canary: ${canary}\r\n\r\n`,
    `POST /?${formatQuery(canary)} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${canary}\r\n`,
    `GET / HTTP/1.1\r\nHost: x\r\nExpect: ${canary}\r\n\r\n`,
  ];
}

/** The canary as a password of the `Basic` scheme (RFC 7617). */
export function formatBasicCredentials(canary: string): string {
  return Buffer.from(`canary:${canary}`).toString("base64");
}

function fillTemplate(template: string): string {
  return template.replaceAll(/\{[^}]*\}/g, "1");
}

/** Targets without a leading slash, with credentials, and with a fragment, which a request target may not have (RFC 9112 section 3.2). */
function createUnusualTargets(canary: string): readonly string[] {
  const query = formatQuery(canary);
  const absolute = [`http://x?${query}`, `http://x#${query}`, `http://user:${canary}@x${NO_ROUTE}?${query}`];
  return [...absolute, `*?${query}`, `*#${query}`, `${NO_ROUTE}#${query}`, `${NO_ROUTE}?${query}#${query}`];
}

function formatQuery(canary: string): string {
  return `canary=${canary}&token=${canary}&q=${canary}`;
}

function createHeaders(canary: string): Record<string, string> {
  const secrets = ["Proxy-Authorization", "X-Api-Key", "X-Auth-Token", "X-Canary", "X-CSRF-Token", "X-XSRF-Token"];
  const descriptions = ["Accept", "Accept-Language", "From", "User-Agent", "Via", "X-Inertia-Version"];
  const forwarded = ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"];
  return {
    ...Object.fromEntries([...secrets, ...descriptions, ...forwarded].map((name) => [name, canary])),
    Authorization: `Bearer ${canary}`,
    Cookie: ["id", "session", "framework-id", "__Host-id", "framework-csrf"]
      .map((name) => `${name}=${canary}`)
      .join("; "),
    "If-None-Match": `"${canary}"`,
    Origin: `https://${canary}.invalid`,
    Referer: `https://${canary}.invalid/?${canary}`,
    // A valid request id is logged and sent back. This value is invalid because of its space.
    "X-Request-Id": `${canary} ${canary}`,
    traceparent: "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
    tracestate: `vendor=${canary}`,
  };
}

function createPreflightHeaders(canary: string): Record<string, string> {
  return { ...createHeaders(canary), "Access-Control-Request-Method": "PUT" };
}

function createBodies(canary: string): readonly RequestOptions[] {
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
  return { ...body, headers: { ...createHeaders(canary), ...(headers as Record<string, string> | undefined) } };
}
