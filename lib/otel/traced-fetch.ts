/**
 * `fetch` with a span of its own for every call: method, address and status, and the trace context of that span on the way to the
 * other side. The span ends when the head of the answer is there; reading the body is no part of it.
 *
 * Nothing is recorded of query, credentials, headers or bodies. A call that is not exported (no telemetry layer around, or after its
 * shutdown) goes out as it was made, and so does one whose address `fetch` itself will refuse.
 */
import { tracing, type Span, type RemoteParent, type SpanData } from "../tracing/tracing.js";
import { CLIENT_TARGET, type SpanExportLayer } from "./span-export-layer.js";

export type Fetch = typeof globalThis.fetch;
type Call = Parameters<Fetch>;

const log = tracing.target(CLIENT_TARGET);
const SAMPLED = 1;

/** All that `fetch` reads of an `init`, of which a `Request` has most as accessors that a spread does not see. */
const MEMBERS =
  "method headers body referrer referrerPolicy mode credentials cache redirect integrity keepalive signal window duplex dispatcher priority".split(
    " ",
  );

export function traceFetch(layer: SpanExportLayer, fetch: Fetch): Fetch {
  // Asynchronous as `fetch` is: what is wrong with a call is a rejection.
  return async (input, init) => {
    const target = targetOf(input);
    const url = addressOf(target);
    if (url === undefined) return fetch(input, init);
    const read = membersOf(init);
    const span = log.span("fetch", { method: methodOf(target, read), url });
    return span.run(() => call(layer, fetch, span, [target, read]));
  };
}

async function call(layer: SpanExportLayer, fetch: Fetch, span: Span, [input, init]: Call): Promise<Response> {
  const context = layer.clientSpan(span)?.spanContext();
  if (context === undefined) return fetch(input, init);
  const headers = headersOf(input, init);
  headers.set("traceparent", `00-${context.traceId}-${context.spanId}-${flagsOf(span)}`);
  headers.delete("tracestate");
  const state = context.traceState?.serialize();
  if (state !== undefined) headers.set("tracestate", state);
  const response = await fetch(input, { ...init, headers });
  span.record({ status: response.status });
  return response;
}

/** What the call is of, read once: the second time it may be something else. */
function targetOf(input: unknown): Call[0] {
  return input instanceof Request || input instanceof URL ? input : String(input);
}

/** As an object with nothing but values, which are read once, too. */
function membersOf(init: Call[1]): Call[1] {
  // `fetch` takes `null` for none, whatever the compiler says.
  if (init === undefined || init === null) return undefined;
  const read: Record<string, unknown> = { ...init };
  for (const name of MEMBERS) if (!(name in read)) read[name] = Reflect.get(init, name);
  return read;
}

/** As `fetch` reads them: those of `init`, where it has any, instead of those of the request. */
function headersOf(input: Call[0], init: Call[1]): Headers {
  if (init?.headers !== undefined) return new Headers(init.headers);
  return new Headers(input instanceof Request ? input.headers : undefined);
}

/** As it is sent: `fetch` writes some methods in capitals, and those alone. */
function methodOf(input: Call[0], init: Call[1]): string {
  const method = init?.method ?? (input instanceof Request ? input.method : "GET");
  return /^(?:delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method;
}

/** Scheme, host and path; of anything but http only the scheme, because the rest may be content. */
function addressOf(input: Call[0]): string | undefined {
  const text = input instanceof Request ? input.url : String(input);
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin, pathname } = new URL(text);
  return /^https?:$/.test(protocol) ? origin + pathname : protocol;
}

/** The flags the trace came with, handed on as they were; of a trace that began here, sampled. */
function flagsOf(span: SpanData): string {
  let remote: RemoteParent | undefined;
  for (let at: SpanData | undefined = span; at !== undefined && remote === undefined; at = at.parent)
    remote = at.remoteParent;
  return (remote?.traceFlags ?? SAMPLED).toString(16).padStart(2, "0");
}
