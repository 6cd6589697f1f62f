/**
 * The client's end of a test: Node's own HTTP client, whose answers are `Response`s as those of `fetch`. Unlike `fetch` it sends the
 * target as it is written (`//`, `..`), a body with any method, and any header; and its connections end with the test.
 */
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import http from "node:http";

// The body of a test's request: JSON, a form, or anything `fetch` takes, as bytes with the media type that goes with it.

/** What `fetch` takes, by a name that Node declares too. */
type Body = NonNullable<RequestInit["body"]>;

/** At most one of the three. */
export interface BodyOptions {
  /** Sent as `application/json`. */
  readonly json?: unknown;
  /** Sent urlencoded; a list repeats its key. */
  readonly form?: Readonly<Record<string, string | readonly string[]>>;
  /** As with `fetch`: text, bytes, `URLSearchParams`, `FormData`, a `Blob`, a stream; a Node stream too. */
  readonly body?: Body | Readable;
}

export interface EncodedBody {
  /** Bytes where the length is known beforehand; `undefined`: the request has no body. */
  readonly content: Buffer | Readable | undefined;
  /** The `Content-Type` that goes with it unless the request names one. */
  readonly type: string | undefined;
}

export function encodeBody({ json, form, body }: BodyOptions): EncodedBody {
  if ([json, form, body].filter((each) => each !== undefined).length > 1) {
    throw new TypeError("a request has one body: give one of json, form and body");
  }
  if (json !== undefined) return { content: Buffer.from(JSON.stringify(json)), type: "application/json" };
  if (form !== undefined) return encode(fieldsOfOfRequestBody(form));
  return body === undefined ? { content: undefined, type: undefined } : encode(body);
}

function encode(body: Body | Readable): EncodedBody {
  if (body instanceof Readable) return { content: body, type: undefined };
  if (body instanceof Uint8Array) return { content: Buffer.from(body), type: undefined };
  // A `Response` knows how each kind of body is written, and what it is called.
  const encoder = new Response(body);
  const type = encoder.headers.get("content-type") ?? undefined;
  if (typeof body === "string" || body instanceof URLSearchParams) return { content: Buffer.from(String(body)), type };
  // Node's and the DOM's declarations of the same class differ.
  return { content: Readable.fromWeb(encoder.body as NodeReadableStream), type };
}

function fieldsOfOfRequestBody(form: NonNullable<BodyOptions["form"]>): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    for (const each of typeof value === "string" ? [value] : value) fields.append(name, each);
  }
  return fields;
}

/** What a request says besides method and path. */
export interface RequestOptions extends BodyOptions {
  readonly headers?: Headers | Readonly<Record<string, string | readonly string[]>>;
  readonly signal?: AbortSignal;
}

/** An answer whose body may still be on its way. */
interface Arriving {
  readonly response: Response;
  readonly incoming: http.IncomingMessage;
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

export class Transport {
  private readonly agent = new http.Agent({ keepAlive: true });
  private readonly arriving = new Set<Arriving>();

  constructor(private readonly port: number) {}

  /** Rejects where no answer comes: the connection was refused, cut or aborted. */
  async send(method: string, path: string, options: RequestOptions, cookies?: string): Promise<Response> {
    const { headers, signal, ...body } = options;
    const { content, type } = encodeBody(body);
    const request = http.request({ ...this.target(path), method, ...(signal !== undefined && { signal }) });
    setFields(request, [...fieldsOf(headers)]);
    if (type !== undefined && !request.hasHeader("Content-Type")) request.setHeader("Content-Type", type);
    if (cookies !== undefined && !request.hasHeader("Cookie")) request.setHeader("Cookie", cookies);
    const incoming = await answered(request, content);
    return this.keep(method, incoming);
  }

  /** Ends the connections whose answer nobody began to read: the test has seen what it wanted. */
  leaveUnread(): void {
    for (const { response, incoming } of this.arriving) {
      if (!response.bodyUsed && response.body?.locked !== true) incoming.destroy();
    }
  }

  private target(path: string): http.RequestOptions {
    if (path === "") throw new TypeError('the path is empty: write "/"');
    // What no request line may hold is encoded as a browser does; everything else goes out as it is written.
    const target = path.replaceAll(/[^\u0021-\u007e]+/g, encodeURIComponent);
    return { agent: this.agent, host: "127.0.0.1", port: this.port, path: target };
  }

  private keep(method: string, incoming: http.IncomingMessage): Response {
    const response = responseOf(method, incoming);
    const arriving = { response, incoming };
    this.arriving.add(arriving);
    incoming.once("close", () => this.arriving.delete(arriving));
    return response;
  }
}

function fieldsOf(headers: RequestOptions["headers"] = {}): Iterable<readonly [string, string | readonly string[]]> {
  return headers instanceof Headers ? headers : Object.entries(headers);
}

/** In place of Node's own, which is its `Host`: of two lines of that name a server refuses both. */
function setFields(
  request: http.ClientRequest,
  fields: readonly (readonly [string, string | readonly string[]])[],
): void {
  for (const [name] of fields) request.removeHeader(name);
  for (const [name, value] of fields) request.appendHeader(name, value);
}

function answered(request: http.ClientRequest, content: Buffer | Readable | undefined): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    // After the answer it stays, and has nothing left to say: what happens then is told by the body.
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

function responseOf(method: string, incoming: http.IncomingMessage): Response {
  // Of an answer that was received both are there.
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return new Response(bodyOf(method, status, incoming), { status, statusText, headers });
}

function bodyOf(method: string, status: number, incoming: http.IncomingMessage): BodyInit | null {
  if (method === "HEAD" || WITHOUT_BODY.has(status)) {
    incoming.resume();
    return null;
  }
  const stream: NodeReadableStream = Readable.toWeb(incoming, { strategy: { highWaterMark: 1 } });
  // Node's and the DOM's declarations of the same class differ.
  return stream as unknown as ReadableStream;
}
