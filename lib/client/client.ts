/**
 * The typed client of a table of endpoints, over `fetch`. A call takes the parts that the contract declares, and resolves with the body of
 * success, or throws a `ClientProblem`. `result` gives each response with its status instead. Responses are not parsed by their schemas.
 *
 * A call that may be repeated (all but POST and PATCH) is sent again, at most twice, after a 429 or 503 with a `Retry-After` of
 * at most 5 s. A POST or PATCH of an `idempotent` endpoint may be too: each call has an `Idempotency-Key`, the same in each of its attempts.
 * Several calls of one table share nothing but the options.
 *
 * @example
 * const api = client(links, { origin: "https://api.example" });
 * const link = await api.show({ params: { id: 7 } });
 */
import { fillTemplate } from "../endpoints/filled-path.js";
import { isIdempotentMethod } from "../endpoints/method.js";
import type { PathParameter } from "../endpoints/path.js";
import type { CallResponse, UnexpectedResponse } from "../endpoints/received.js";
import { type CallInit, type CallParts, toInit, toUrl } from "./call-request.js";
import { readResponse } from "./call-response.js";
import { ClientProblem } from "./client-problem.js";
import { type CalledEndpoint, type RoutesManifest, type ManifestEntry, toManifestEntry } from "./manifest.js";

type HeaderFields = Readonly<Record<string, unknown>>;

export interface RouteClientOptions {
  /** `https://api.example`, without a slash at its end; `""` for the origin of the page. */
  readonly origin: string;
  /** Sends the requests; the global `fetch` unless set. */
  readonly fetch?: (url: string, init: CallInit) => Promise<Response>;
  /** Headers for every call, such as `traceparent`: an object, or a function that is called for each attempt. */
  readonly headers?: HeaderFields | (() => HeaderFields | Promise<HeaderFields>);
}

/** The calls of a table by the names of its entries. */
export type Client<T> = { readonly [K in keyof T & string]: EndpointCall<T[K]> };

export interface EndpointCall<E> {
  /** @throws ClientProblem for a response that is not one of success */
  (...request: CallArguments<EntryType<E, "~request">>): Promise<EntryType<E, "~success">>;
  /** Resolves with every response: those that the contract declares by status, the problems of the framework, and `unexpected`. */
  result(...request: CallArguments<EntryType<E, "~request">>): Promise<EntryType<E, "~result">>;
}

type EntryType<E, N extends string> = N extends keyof E ? E[N] : never;

/** The argument may be left out where all its members may be. */
export type CallArguments<R> = object extends R ? [request?: R & CallOptions] : [request: R & CallOptions];

export interface CallOptions {
  /** Beside the headers of the contract any others, such as `Last-Event-ID`. */
  readonly headers?: HeaderFields;
  /** Aborts the call, and a stream that it has returned. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * @typeParam T the table; written out where `source` is a manifest: `client<typeof links>(manifest, options)`
 * @param source the table, or its manifest of `createManifest`
 */
export function client<T extends object>(source: T | RoutesManifest, options: RouteClientOptions): Client<T> {
  const calls = Object.entries(source as Readonly<Record<string, Called>>).map(
    ([name, entry]) => [name, createCall(entry, options)] as const,
  );
  // Every key of T has its call.
  return Object.fromEntries(calls) as unknown as Client<T>;
}

type ClientResponse = CallResponse | UnexpectedResponse;

type Called = CalledEndpoint | ManifestEntry;

function createCall(called: Called, options: RouteClientOptions): object {
  const entry = "url" in called ? toManifestEntry(called) : called;
  const fill = "url" in called ? called.url : (...values: readonly PathParameter[]) => fillTemplate(entry.path, values);
  const result = async (parts: CallParts = {}): Promise<ClientResponse> =>
    send(entry, toUrl(options.origin, entry.path, fill, parts), parts, options);
  const call = async (parts?: CallParts): Promise<unknown> => {
    const outcome = await result(parts);
    if (outcome.status === "unexpected") throw new ClientProblem(entry, outcome.response, outcome.response.bytes);
    if (outcome.status < 400) return outcome.body;
    throw new ClientProblem(entry, outcome, outcome.body);
  };
  return Object.assign(call, { result });
}

async function send(
  entry: ManifestEntry,
  url: string,
  parts: CallParts,
  { fetch: exchange = globalThis.fetch, headers = {} }: RouteClientOptions,
): Promise<ClientResponse> {
  // A page without TLS has no `crypto.randomUUID`.
  const key = entry.idempotent ? crypto.getRandomValues(new Uint32Array(4)).join("-") : undefined;
  for (let attempt = 1; ; attempt++) {
    const added = typeof headers === "function" ? await headers() : headers;
    const init = toInit(entry, parts, { "idempotency-key": key }, added);
    const response = await exchange(url, init);
    const waitMs =
      attempt < MAX_ATTEMPTS ? getWaitMs(init, response, key && init.headers.get("idempotency-key")) : undefined;
    if (waitMs === undefined) return readResponse(entry, response);
    await response.body?.cancel();
    await pause(waitMs, parts.signal);
  }
}

const MAX_ATTEMPTS = 3;
const MAX_WAIT_MS = 5000;

/** RFC 9110 section 10.2.3: seconds, or a date. `undefined` where the call is not repeated. */
function getWaitMs(
  { method, duplex }: CallInit,
  { status, headers }: Response,
  key: string | null | undefined,
): number | undefined {
  const after = headers.get("retry-after") ?? "";
  // With a key, a 409 with Retry-After says that the first attempt still runs.
  const isBusy = status === 429 || status === 503 || (status === 409 && key);
  // A body that is a stream has been read.
  if (!isBusy || !(key || isIdempotentMethod(method)) || duplex !== undefined) return undefined;
  // Engines read a number below zero as a date.
  const ms = /^\d+$/.test(after)
    ? Number(after) * 1000
    : Math.max(Date.parse(after.endsWith("GMT") ? after : "") - Date.now(), 0);
  return ms <= MAX_WAIT_MS ? ms : undefined;
}

/** `sleep` of `lib/runtime/clock.ts` needs a `Clock`, which a front end has not. Ends early where the signal aborts: `fetch` rejects then. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, signal?.aborted ? 0 : ms);
    signal?.addEventListener("abort", end);
  });
}
