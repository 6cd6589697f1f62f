/**
 * A `fetch` with a client span for each call. The span records method, address and status; the call sends the trace context of the span.
 * The span ends when the head of the response has arrived, before its body.
 *
 * It does not record query, credentials, headers and bodies. A call passes unchanged if its span is not exported (no telemetry layer, or
 * after its shutdown), or if `fetch` refuses its address.
 */
import type { Span } from "../../tracing/span.js";
import type { RemoteParent, SpanData } from "../../tracing/subscriber.js";
import { tracing } from "../../tracing/tracing.js";
import { CLIENT_TARGET, type SpanExportLayer } from "./span-export-layer.js";

export type Fetch = typeof globalThis.fetch;
type Call = Parameters<Fetch>;

const log = tracing.target(CLIENT_TARGET);
/** The sampled flag of W3C Trace Context. */
const SAMPLED = 1;

/** The members that `fetch` reads of its options. In a `Request` most are accessors of the prototype, which a spread does not copy. */
const MEMBERS =
  "method headers body referrer referrerPolicy mode credentials cache redirect integrity keepalive signal window duplex dispatcher priority".split(
    " ",
  );

export function traceFetch(layer: SpanExportLayer, fetch: Fetch): Fetch {
  // `async`, because `fetch` reports every error as a rejection.
  return async (input, init) => {
    const target = toTarget(input);
    const url = findAddress(target);
    if (url === undefined) return fetch(input, init);
    const options = readOptions(init);
    const span = log.span("fetch", { method: getMethod(target, options), url });
    return span.run(() => call(layer, fetch, span, [target, options]));
  };
}

async function call(layer: SpanExportLayer, fetch: Fetch, span: Span, [input, init]: Call): Promise<Response> {
  const context = layer.clientSpan(span)?.spanContext();
  if (context === undefined) return fetch(input, init);
  const headers = getHeaders(input, init);
  headers.set("traceparent", `00-${context.traceId}-${context.spanId}-${formatFlags(span)}`);
  headers.delete("tracestate");
  const state = context.traceState?.serialize();
  if (state !== undefined) headers.set("tracestate", state);
  const response = await fetch(input, { ...init, headers });
  span.record({ status: response.status });
  return response;
}

/** Converts the address to a string once, because a second conversion may give another string. */
function toTarget(input: unknown): Call[0] {
  return isRequest(input) || input instanceof URL ? input : String(input);
}

/** Checked by its members, because the `fetch` of a package takes a `Request` of another class. */
function isRequest(input: unknown): input is Request {
  if (typeof input !== "object" || input === null) return false;
  const { url, method, headers }: { url?: unknown; method?: unknown; headers?: unknown } = input;
  return typeof url === "string" && typeof method === "string" && typeof headers === "object";
}

/** Reads each option once, into an object without accessors. */
function readOptions(init: Call[1]): Call[1] {
  // `fetch` also accepts `null`, which its declaration does not.
  if (init === undefined || init === null) return undefined;
  const read: Record<string, unknown> = { ...init };
  for (const name of MEMBERS) if (!(name in read)) read[name] = Reflect.get(init, name);
  return read;
}

/** As in `fetch`, the headers of the options replace the headers of the request. */
function getHeaders(input: Call[0], init: Call[1]): Headers {
  if (init?.headers !== undefined) return new Headers(init.headers);
  return new Headers(isRequest(input) ? input.headers : undefined);
}

/** The method as `fetch` sends it: it converts only these names to capitals. */
function getMethod(input: Call[0], init: Call[1]): string {
  const method = init?.method ?? (isRequest(input) ? input.method : "GET");
  return /^(?:delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method;
}

/** Scheme, host and path; for other schemes than http only the scheme, because the rest may be content (`data:`). */
function findAddress(input: Call[0]): string | undefined {
  const text = isRequest(input) ? input.url : String(input);
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin, pathname } = new URL(text);
  return /^https?:$/.test(protocol) ? origin + pathname : protocol;
}

/** The flags of the caller's trace, unchanged; a trace that starts here is sampled. */
function formatFlags(span: SpanData): string {
  let remote: RemoteParent | undefined;
  for (let at: SpanData | undefined = span; at !== undefined && remote === undefined; at = at.parent)
    remote = at.remoteParent;
  return (remote?.traceFlags ?? SAMPLED).toString(16).padStart(2, "0");
}
