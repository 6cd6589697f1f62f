/**
 * Writes the head of a response: status line and fields, as one text together with a small body where Node allows it. It also checks a
 * status and its message.
 */
import { channel } from "node:diagnostics_channel";
import { getHeadText, mayHaveNonAsciiHead, setHeadText } from "#node-internals";
import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { nodeHttp } from "../../runtime/node-http.js";

// Node stores a composed head as text until it sends it, and more text can be appended. That is cheaper than the calls of Node:
// - Node checks each character of every header line. Lines that consist of checked pieces need no check.
// - Node writes head and body as two pieces. A small text is appended to the head, and both go out in one write.
//
// Node's getters do not see headers that are written in this way. On a server of the framework `FrameworkResponse` reads them from the
// text. On other servers Node writes the head of a response that has listeners.
//
// Node also writes the head of a response if other code has replaced the methods of the response, or if Node checks its length. Methods
// that were put on the class of Node before this file was loaded are not recognised: such an `end` does not see a small body.

/** In bytes. Above this, joining the two pieces costs as much as it saves. */
const MAX_JOINED_BYTES = 8192;

// The methods of Node, only for comparison.
const [nodeWriteHead, nodeWrite, nodeEnd] = ["writeHead", "write", "end"].map((name): unknown =>
  Reflect.get(nodeHttp.ServerResponse.prototype, name),
);

/** Publishes each response that is sent; observers read its headers. */
const finishChannel = channel("http.server.response.finish");

/** Whether a listener waits for the end of a response, and may then read its headers or listen to its request. */
export function isWatched(raw: ServerResponse): boolean {
  // Node's server has one listener for `finish`.
  return finishChannel.hasSubscribers || raw.listenerCount("finish") > 1 || raw.listenerCount("close") > 0;
}

/** The response class of the framework's servers. Its getters also see the headers of a head that is written as text. */
export class FrameworkResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends nodeHttp.ServerResponse<Request> {
  override getHeader(name: string): number | string | string[] | undefined {
    return this.isHeadText ? this.parseHead()[name.toLowerCase()] : super.getHeader(name);
  }

  override hasHeader(name: string): boolean {
    return this.isHeadText ? name.toLowerCase() in this.parseHead() : super.hasHeader(name);
  }

  override getHeaders(): OutgoingHttpHeaders {
    return this.isHeadText ? this.parseHead() : super.getHeaders();
  }

  override getHeaderNames(): string[] {
    return this.isHeadText ? Object.keys(this.parseHead()) : super.getHeaderNames();
  }

  /** Whether the head is written, and no header was set on the response. */
  private get isHeadText(): boolean {
    return typeof getHeadText(this) === "string" && super.getHeaderNames().length === 0;
  }

  /** Returns the fields of the head, with those that Node has added. No name occurs twice. */
  private parseHead(): OutgoingHttpHeaders {
    const text = String(getHeadText(this));
    // Without a prototype, as in Node, so that `constructor` is not a header.
    const headers = Object.create(null) as OutgoingHttpHeaders;
    for (const line of text.slice(0, text.indexOf("\r\n\r\n")).split("\r\n").slice(1)) {
      const colon = line.indexOf(":");
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 2);
    }
    // Numbers stay numbers, as in headers that are set on the response.
    const length = headers["content-length"];
    if (length !== undefined) headers["content-length"] = Number(length);
    return headers;
  }
}

/**
 * Whether `writeHead` may write the head of this response as text. Code that has replaced a method, or that listens to the response of
 * another server, expects to find the headers on the response.
 */
export function acceptsTextHead(raw: ServerResponse): boolean {
  return (
    isUnpatched(raw) &&
    getHeadText(raw) === null &&
    setHeadText(raw, null) &&
    raw.getHeaderNames().length === 0 &&
    (raw instanceof FrameworkResponse || !isWatched(raw))
  );
}

/** Writes the head of a response that `acceptsTextHead`: `pairs` through Node, which acts on some of them, and `lines` behind them. */
export function writeHead(raw: ServerResponse, pairs: OutgoingHttpHeader[], lines: string): void {
  raw.writeHead(raw.statusCode, pairs);
  if (lines !== "") setHeadText(raw, `${String(getHeadText(raw)).slice(0, -2)}${lines}\r\n`);
}

/** Ends a response whose head is written. @param length of the body, in bytes */
export function endResponse(raw: ServerResponse, body: string | Uint8Array | undefined, length: number): void {
  if (body === undefined) raw.end();
  else if (typeof body === "string" && length <= MAX_JOINED_BYTES && appendToHead(raw, body, length)) raw.end();
  else endWithBody(raw, body);
}

// Node writes a head with characters beyond ASCII in UTF-8 if the head is flushed alone or sent with a text, because Node joins the two.
// Before bytes Node writes the head in Latin-1.

/** Sends a head that is written, before the first chunk of its body. */
export function flushHead(raw: ServerResponse): void {
  if (mayHaveNonAsciiHead(raw)) raw.write(Buffer.alloc(0));
  else raw.flushHeaders();
}

/** Ends a response whose head is written, and perhaps sent. */
export function endWithBody(raw: ServerResponse, body: string | Uint8Array): void {
  raw.end(typeof body === "string" && mayHaveNonAsciiHead(raw) ? Buffer.from(body) : body);
}

function appendToHead(raw: ServerResponse, body: string, length: number): boolean {
  const head = getHeadText(raw);
  if (!isUnpatched(raw) || raw.chunkedEncoding || typeof head !== "string") return false;
  if (length === body.length) return setHeadText(raw, head + body);
  if (mayHaveNonAsciiHead(raw) || !setHeadText(raw, head + body)) return false;
  // At the end Node would write the text in Latin-1.
  raw.flushHeaders();
  return true;
}

/** Whether a response has Node's class and methods. Other methods may treat head and body differently. */
function isUnpatched(raw: ServerResponse): boolean {
  const prototype: unknown = Object.getPrototypeOf(raw);
  return (
    (prototype === FrameworkResponse.prototype || prototype === nodeHttp.ServerResponse.prototype) &&
    raw.writeHead === nodeWriteHead &&
    raw.write === nodeWrite &&
    raw.end === nodeEnd &&
    !raw.strictContentLength
  );
}

// The checks below run before stages see a response. Node checks only when the head is written.

/** Whether a status ends a request: one below 200 announces another head, and there is none above 599 (RFC 9110 section 15). */
export function isFinalStatus(code: number): boolean {
  return code >= 200 && code <= 599 && Number.isInteger(code);
}

/** @throws TypeError for a status that does not end a request. */
export function checkFinalStatus(code: number): void {
  if (!isFinalStatus(code))
    throw new TypeError(`invalid status code: ${String(code)}; give an integer from 200 to 599`);
}

/** @throws TypeError for a line break, or a character that is not allowed in a header. */
export function checkStatusMessage(text: string): void {
  nodeHttp.validateHeaderValue("status message", text);
}

/** Whether a response with this status never has a body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
export function isEmptyStatus(code: number): boolean {
  return code === 204 || code === 205 || code === 304;
}
