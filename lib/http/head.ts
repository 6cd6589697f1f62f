/**
 * The head of an answer at the moment it is sent: status line and fields. Stages that promise a header on every answer add it here, also
 * to refusals, to the answer of the last-resort handler and to a head that is written by hand.
 */
import { channel } from "node:diagnostics_channel";
import {
  ServerResponse,
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  validateHeaderValue,
} from "node:http";
import type { Exchange } from "./exchange.js";

export interface HeadCompleter {
  complete(exchange: Exchange, head: ResponseHead): void;
}

export interface ResponseHead {
  has(name: string): boolean;
  get(name: string): string | undefined;
  /** Adds, or puts in place of what was there. The value must be one that a header may hold; it is not checked. */
  set(name: string, value: string): void;
  /** Adds all pairs `[name, value, name, value, …]` that are not there yet. */
  floor(pairs: readonly string[]): void;
}

/**
 * The head of an answer on which the application has set no header: it holds only what stages add. Names are constants with one spelling;
 * values are constants, numbers, or checked by parsers. So its text needs no check.
 */
export class TextHead implements ResponseHead {
  readonly pairs: string[] = [];

  has(name: string): boolean {
    return this.indexOf(name) >= 0;
  }

  get(name: string): string | undefined {
    const at = this.indexOf(name);
    return at < 0 ? undefined : this.pairs[at + 1];
  }

  set(name: string, value: string): void {
    const at = this.indexOf(name);
    if (at < 0) this.pairs.push(name, value);
    else this.pairs[at + 1] = value;
  }

  floor(pairs: readonly string[]): void {
    for (let at = 0; at < pairs.length; at += 2) {
      const name = pairs[at] ?? "";
      if (this.indexOf(name) < 0) this.pairs.push(name, pairs[at + 1] ?? "");
    }
  }

  /** The header lines, each with its line end. */
  lines(): string {
    const { pairs } = this;
    let lines = "";
    for (let at = 0; at < pairs.length; at += 2) lines = lines + pairs[at] + ": " + pairs[at + 1] + "\r\n";
    return lines;
  }

  private indexOf(name: string): number {
    const { pairs } = this;
    for (let at = 0; at < pairs.length; at += 2) if (pairs[at] === name) return at;
    return -1;
  }
}

/** The head on Node's response, where headers are set already. */
export class NodeHead implements ResponseHead {
  constructor(private readonly raw: ServerResponse) {}

  has(name: string): boolean {
    return this.raw.hasHeader(name);
  }

  get(name: string): string | undefined {
    const value = this.raw.getHeader(name);
    return value === undefined ? undefined : String(value);
  }

  set(name: string, value: string): void {
    this.raw.setHeader(name, value);
  }

  floor(pairs: readonly string[]): void {
    for (let at = 0; at < pairs.length; at += 2) {
      const name = pairs[at] ?? "";
      if (!this.raw.hasHeader(name)) this.raw.setHeader(name, pairs[at + 1] ?? "");
    }
  }
}

// Node holds a composed head as text until it sends it, and more text can be appended. That is cheaper than Node's own calls:
// - Node checks each character of every header line; lines of checked pieces need no check.
// - Node writes head and body as two pieces; a small body of ASCII text is appended to the head: one piece, one write.
//
// Node's getters do not see headers that are written in this way. On a server of the framework `OwnResponse` reads them from the text; on
// other servers a response that something listens to is left to Node.
//
// A response with methods of another origin, or with a length that Node checks, is left to Node. Methods that were put on Node's own
// class before this file was loaded are not recognized: such an `end` does not see a small body.

/** In bytes. Above this, joining the two pieces costs as much as it saves. */
const SMALL = 8192;

// For comparison only.
const [nodesWriteHead, nodesWrite, nodesEnd] = ["writeHead", "write", "end"].map((name): unknown =>
  Reflect.get(ServerResponse.prototype, name),
);

/** Node's private name for a composed head, `null` before. Without it, everything goes through Node. */
interface Composed {
  _header?: unknown;
}

/** Publishes each response that is out; observers read its headers. */
const finishChannel = channel("http.server.response.finish");

/** Whether something listens for the end of a response, and may then read its headers or listen to its request. */
export function isWatched(raw: ServerResponse): boolean {
  // Node's server has one listener for `finish`.
  return finishChannel.hasSubscribers || raw.listenerCount("finish") > 1 || raw.listenerCount("close") > 0;
}

/** The response class of the framework's servers. Its getters also see the headers of a head that is written as text. */
export class OwnResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Node's. */
  declare readonly _header?: unknown;

  override getHeader(name: string): number | string | string[] | undefined {
    return this.isText ? this.written()[name.toLowerCase()] : super.getHeader(name);
  }

  override hasHeader(name: string): boolean {
    return this.isText ? name.toLowerCase() in this.written() : super.hasHeader(name);
  }

  override getHeaders(): OutgoingHttpHeaders {
    return this.isText ? this.written() : super.getHeaders();
  }

  override getHeaderNames(): string[] {
    return this.isText ? Object.keys(this.written()) : super.getHeaderNames();
  }

  /** Whether the head is written, and no header was set on the response. */
  private get isText(): boolean {
    return typeof this._header === "string" && super.getHeaderNames().length === 0;
  }

  /** The fields of the head, with those that Node has added. No name is there twice. */
  private written(): OutgoingHttpHeaders {
    const text = String(this._header);
    // As Node's own, so that `constructor` is no header.
    const headers = Object.create(null) as OutgoingHttpHeaders;
    for (const line of text.slice(0, text.indexOf("\r\n\r\n")).split("\r\n").slice(1)) {
      const colon = line.indexOf(":");
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 2);
    }
    return headers;
  }
}

/**
 * Whether `writeHead` may write the head of this response. Code that replaced a method, or listens to the response of another server,
 * expects that it finds the headers on the response.
 */
export function takesText(raw: ServerResponse): boolean {
  return (
    isNodes(raw) && raw._header === null && replaceHead(raw, null) && (raw instanceof OwnResponse || !isWatched(raw))
  );
}

/** Writes the head of a response that `takesText`: `pairs` through Node, which acts on some of them, and those of `head` behind them. */
export function writeHead(raw: ServerResponse & Composed, pairs: OutgoingHttpHeader[], head: TextHead): void {
  raw.writeHead(raw.statusCode, pairs);
  const composed = raw._header;
  if (head.pairs.length === 0 || typeof composed !== "string") return;
  raw._header = `${composed.slice(0, -2)}${head.lines()}\r\n`;
}

/** Ends an answer whose head is written. @param length of the body, in bytes */
export function endAnswer(raw: ServerResponse, body: string | Uint8Array | undefined, length: number): void {
  if (typeof body === "string" && length === body.length && length <= SMALL && appendToHead(raw, body)) raw.end();
  else if (body === undefined) raw.end();
  else endWithBody(raw, body);
}

/** Sends a head that is written, before the first chunk of its body. */
export function flushHead(raw: ServerResponse): void {
  if (isWrittenInUtf8(raw)) raw.write(Buffer.alloc(0));
  else raw.flushHeaders();
}

/** Ends an answer whose head is written, and perhaps sent. */
export function endWithBody(raw: ServerResponse, body: string | Uint8Array): void {
  raw.end(typeof body === "string" && isWrittenInUtf8(raw) ? Buffer.from(body) : body);
}

const NOT_ASCII = /[\u0080-\uffff]/;

/**
 * Whether Node writes a composed head in UTF-8 if it is flushed alone or sent with a text: it joins the two. Before bytes it writes the head
 * in Latin-1.
 */
function isWrittenInUtf8({ _header: head }: ServerResponse & Composed): boolean {
  return typeof head === "string" && NOT_ASCII.test(head);
}

function appendToHead(raw: ServerResponse, body: string): boolean {
  if (!isNodes(raw) || raw.chunkedEncoding || typeof raw._header !== "string") return false;
  return replaceHead(raw, raw._header + body);
}

/** False if this version of Node allows no other text. */
function replaceHead(raw: Composed, text: string | null): boolean {
  try {
    raw._header = text;
    return true;
  } catch {
    return false;
  }
}

/** Whether a response has the class and the methods of Node: others may treat head and body in another way. */
function isNodes(raw: ServerResponse): raw is ServerResponse & Composed {
  const prototype: unknown = Object.getPrototypeOf(raw);
  return (
    (prototype === OwnResponse.prototype || prototype === ServerResponse.prototype) &&
    raw.writeHead === nodesWriteHead &&
    raw.write === nodesWrite &&
    raw.end === nodesEnd &&
    !raw.strictContentLength
  );
}

// The checks below run before stages see an answer: Node checks only when the head is written.

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
  validateHeaderValue("status message", text);
}

/** Answers that never have a body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
export function isEmptyStatus(code: number): boolean {
  return code === 204 || code === 205 || code === 304;
}
