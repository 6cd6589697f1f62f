/**
 * The HTTP client of a test. It uses the client of Node and returns the `Response` of `fetch`. Unlike `fetch`, it sends the request target
 * unchanged (`//` and `..` stay), a body with any method, and any header. `TestClient` has the methods that a test calls.
 */
import type http from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { nodeHttp } from "../runtime/node-http.js";

/** The bodies that `fetch` takes. */
type FetchBody = NonNullable<RequestInit["body"]>;

/** The body of a request: at most one of the three. */
export interface BodyOptions {
  /** Sent as `application/json`. */
  readonly json?: unknown;
  /** Sent as `application/x-www-form-urlencoded`; a list repeats its key. */
  readonly form?: Readonly<Record<string, string | readonly string[]>>;
  /** As with `fetch`: text, bytes, `URLSearchParams`, `FormData`, a `Blob` or a stream; also a Node stream. */
  readonly body?: FetchBody | Readable;
}

/** A request without its method and its path. */
export interface RequestOptions extends BodyOptions {
  readonly headers?: Headers | Readonly<Record<string, string | readonly string[]>>;
  readonly signal?: AbortSignal;
}

/** The lines of one field may be several values. */
export type HeaderField = readonly [name: string, value: string | readonly string[]];

/** A response whose body has not ended yet. */
interface OpenResponse {
  readonly response: Response;
  readonly incoming: http.IncomingMessage;
}

/** RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5: `new Response` refuses a body for these. */
const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

export class Transport {
  private readonly agent = new nodeHttp.Agent({ keepAlive: true });
  private readonly open = new Set<OpenResponse>();

  constructor(private readonly port: number) {}

  /** Rejects if the connection is refused, cut or aborted before a response. */
  async send(method: string, path: string, options: RequestOptions, cookies?: string): Promise<Response> {
    const { headers, signal, ...body } = options;
    const { content, type } = encodeBody(body);
    const request = nodeHttp.request({ ...this.target(path), method, ...(signal !== undefined && { signal }) });
    setFields(request, [...toFields(headers)]);
    if (type !== undefined && !request.hasHeader("Content-Type")) request.setHeader("Content-Type", type);
    if (cookies !== undefined && !request.hasHeader("Cookie")) request.setHeader("Cookie", cookies);
    const incoming = await exchange(request, content);
    return this.trackResponse(method, incoming);
  }

  /** Destroys the connections of responses whose body the test has not started to read. They would delay the stop of the application. */
  destroyUnread(): void {
    for (const { response, incoming } of this.open) {
      if (!response.bodyUsed && response.body?.locked !== true) incoming.destroy();
    }
  }

  private target(path: string): http.RequestOptions {
    if (path === "") throw new TypeError('the path is empty: write "/"');
    // A request line holds visible ASCII only (RFC 9112 section 3). Other characters are encoded as a browser encodes them.
    const target = path.replaceAll(/[^\u0021-\u007e]+/g, encodeURIComponent);
    return { agent: this.agent, host: "127.0.0.1", port: this.port, path: target };
  }

  private trackResponse(method: string, incoming: http.IncomingMessage): Response {
    const open = { response: createResponse(method, incoming), incoming };
    this.open.add(open);
    incoming.once("close", () => this.open.delete(open));
    return open.response;
  }
}

/** The lines of the headers; a list repeats its name. */
function toFields(headers: RequestOptions["headers"] = {}): Iterable<HeaderField> {
  return headers instanceof Headers ? headers : Object.entries(headers);
}

export function copyHeaders(given: RequestOptions["headers"]): Headers {
  const headers = new Headers();
  for (const [name, value] of toFields(given)) for (const each of [value].flat()) headers.append(name, each);
  return headers;
}

/** Replaces the fields that Node sets, because a server refuses a request with two `Host` lines. */
function setFields(request: http.ClientRequest, fields: readonly HeaderField[]): void {
  for (const [name] of fields) request.removeHeader(name);
  for (const [name, value] of fields) request.appendHeader(name, value);
}

function exchange(request: http.ClientRequest, content: Buffer | Readable | undefined): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    // The listener stays after the response, because an error event without a listener ends the process. The body reports a later error.
    request.on("error", reject).once("response", resolve);
    if (content instanceof Readable) sendStream(request, content);
    else if (content === undefined) request.end();
    else request.setHeader("Content-Length", content.length).end(content);
  });
}

function sendStream(request: http.ClientRequest, content: Readable): void {
  request.setHeader("Transfer-Encoding", "chunked");
  content.once("error", (error) => request.destroy(error)).pipe(request);
}

function createResponse(method: string, incoming: http.IncomingMessage): Response {
  // Node sets both on every response.
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return new Response(toBody(method, status, incoming), { status, statusText, headers });
}

function toBody(method: string, status: number, incoming: http.IncomingMessage): BodyInit | null {
  if (method === "HEAD" || STATUSES_WITHOUT_BODY.has(status)) {
    incoming.resume();
    return null;
  }
  const stream: NodeReadableStream = Readable.toWeb(incoming, { strategy: { highWaterMark: 1 } });
  // The same class: Node's declaration and the DOM's declaration differ.
  return stream as unknown as ReadableStream;
}

export interface EncodedBody {
  /** A buffer if the length is known, a stream if it is not, `undefined` for a request without a body. */
  readonly content: Buffer | Readable | undefined;
  /** The `Content-Type` for a request that does not set one. */
  readonly type: string | undefined;
}

/** @throws TypeError for more than one body */
export function encodeBody({ json, form, body }: BodyOptions): EncodedBody {
  if ([json, form, body].filter((each) => each !== undefined).length > 1) {
    throw new TypeError("a request has one body: give one of json, form and body");
  }
  if (json !== undefined) return { content: Buffer.from(JSON.stringify(json)), type: "application/json" };
  if (form !== undefined) return encodeFetchBody(toSearchParams(form));
  return body === undefined ? { content: undefined, type: undefined } : encodeFetchBody(body);
}

function encodeFetchBody(body: FetchBody | Readable): EncodedBody {
  if (body instanceof Readable) return { content: body, type: undefined };
  if (body instanceof Uint8Array) return { content: Buffer.from(body), type: undefined };
  // `Response` encodes each kind of body and knows its media type.
  const encoder = new Response(body);
  const type = encoder.headers.get("content-type") ?? undefined;
  if (typeof body === "string" || body instanceof URLSearchParams) return { content: Buffer.from(String(body)), type };
  // The same class: Node's declaration and the DOM's declaration differ.
  return { content: Readable.fromWeb(encoder.body as NodeReadableStream), type };
}

function toSearchParams(form: NonNullable<BodyOptions["form"]>): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    for (const each of typeof value === "string" ? [value] : value) params.append(name, each);
  }
  return params;
}
