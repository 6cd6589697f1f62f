/**
 * The head of an answer at the moment it is sent. Stages that promise a header on every answer add it here, whoever answered:
 * handler, refusal, backstop, or a write by hand.
 */
import { ServerResponse, type OutgoingHttpHeader, validateHeaderValue } from "node:http";
import type { Exchange } from "./exchange.js";

export interface HeadCompleter {
  complete(exchange: Exchange, head: ResponseHead): void;
}

export interface ResponseHead {
  has(name: string): boolean;
  get(name: string): string | undefined;
  /** Adds, or puts in place of what was there. The value is one that a header may hold, which need not be looked at again. */
  set(name: string, value: string): void;
  /** Adds all pairs `[name, value, name, value, …]` that are not there yet. */
  floor(pairs: readonly string[]): void;
}

/**
 * A head nobody has touched: what stages add to it, and nothing else. Names are constants, spelled alike by all who use them; values are
 * constants, numbers, or come from parsers that let nothing through which no header may hold. So it is text that nobody has to check.
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

  /** As they stand in an answer, each line with its end. */
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

/** A head that lives on Node's response already. */
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

// A head that Node has composed and not yet sent is text, and more text can be put behind it. That is cheaper than what Node's own calls do.
//
// Header lines are looked at by Node character by character, name and value, every time; lines that were made of checked pieces need
// not be. And a body that is given to `end` is kept apart from the head, and the socket handed a list of two pieces; text that is ASCII
// goes out as the end of the head instead: one piece, one write.
//
// A response on which somebody has put methods of his own, or whose length Node is to check, is left to Node whole. Only methods that were
// put on Node's own class before this file was loaded cannot be told apart: such an `end` does not see a small body.

/** Above this many bytes, joining the two pieces costs what it saves. */
const SMALL = 8192;

// To be compared with, never to be called.
const [nodesWriteHead, nodesWrite, nodesEnd] = ["writeHead", "write", "end"].map((name): unknown =>
  Reflect.get(ServerResponse.prototype, name),
);

/** Node's name for a composed head, `null` before; there is no public one. Where it is missing, Node is given everything. */
interface Composed {
  _header?: unknown;
}

/** Writes the head: `pairs` by way of Node, which has to look at some of them, and those of `head` behind them. */
export function writeHead(raw: ServerResponse, pairs: OutgoingHttpHeader[], head: TextHead): void {
  if (!isNodes(raw) || raw._header !== null) {
    raw.writeHead(raw.statusCode, [...pairs, ...head.pairs]);
    return;
  }
  raw.writeHead(raw.statusCode, pairs);
  // From here on it is text, which ends with the empty line; the compiler still takes it for `null`.
  const composed: unknown = raw._header;
  if (head.pairs.length === 0 || typeof composed !== "string") return;
  raw._header = `${composed.slice(0, -2)}${head.lines()}\r\n`;
}

/** Ends an answer whose head is written. `length` is the body's in bytes. */
export function endAnswer(raw: ServerResponse, body: string | Uint8Array | undefined, length: number): void {
  if (typeof body === "string" && length === body.length && length <= SMALL && appendToHead(raw, body)) raw.end();
  else if (body === undefined) raw.end();
  else raw.end(body);
}

function appendToHead(raw: ServerResponse, body: string): boolean {
  if (!isNodes(raw) || raw.chunkedEncoding || typeof raw._header !== "string") return false;
  raw._header += body;
  return true;
}

/** A response of another class, or with other methods, does with head and body what only it knows. */
function isNodes(raw: ServerResponse): raw is ServerResponse & Composed {
  return (
    Object.getPrototypeOf(raw) === ServerResponse.prototype &&
    raw.writeHead === nodesWriteHead &&
    raw.write === nodesWrite &&
    raw.end === nodesEnd &&
    !raw.strictContentLength
  );
}

// What a status line can say, found out before anyone is told of an answer: Node refuses the rest only when the head is written.

/** Whether a status ends a request: those below 200 announce another head, and above 599 there are none (RFC 9110 section 15). */
export function isFinalStatus(code: number): boolean {
  return code >= 200 && code <= 599 && Number.isInteger(code);
}

/** @throws TypeError for a status that ends no request. */
export function checkFinalStatus(code: number): void {
  if (!isFinalStatus(code))
    throw new TypeError(`invalid status code: ${String(code)}; give an integer from 200 to 599`);
}

/** @throws TypeError for a line break, or a character that no header can carry. */
export function checkStatusMessage(text: string): void {
  validateHeaderValue("status message", text);
}

/** Answers that have no body, whatever somebody set (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
export function isEmptyStatus(code: number): boolean {
  return code === 204 || code === 205 || code === 304;
}
