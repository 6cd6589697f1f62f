/**
 * The requests of `expectNoLeak`: to every route, to no route and by the wrong method, with the canary wherever a request can hold a
 * secret. Not in the path and not in names: those are what logs and messages are for.
 */
import type { RouteDescriptor } from "../routing/handler.js";
import type { RequestOptions } from "./transport.js";

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
    yield { method, path: target, options: { headers: { Authorization: `Basic ${encoded(canary)}` } } };
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
export function canaryBytes(canary: string): readonly string[] {
  return [
    `GET /?${queryOf(canary)} HTTP/1.1\r\nHost: x\r\nX-Canary: ${canary.repeat(20_000 / canary.length)}\r\n\r\n`,
    `GET /?${queryOf(canary)} HTTP/1.1\r\nHost: x\r\nX Canary: ${canary}\r\n\r\n`,
    `POST /?${queryOf(canary)} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${canary}\r\n`,
    `GET / HTTP/1.1\r\nHost: x\r\nExpect: ${canary}\r\n\r\n`,
  ];
}

/** As it stands in a header of the `Basic` scheme. */
export function encoded(canary: string): string {
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
