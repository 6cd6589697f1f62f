/**
 * A head that Node has composed and not yet sent is text, and more text can be put behind it. That is cheaper than what Node's own calls do.
 *
 * Header lines are looked at by Node character by character, name and value, every time; lines that were made of checked pieces need
 * not be. And a body that is given to `end` is kept apart from the head, and the socket handed a list of two pieces; text that is ASCII
 * goes out as the end of the head instead: one piece, one write.
 */
import { ServerResponse, type OutgoingHttpHeader } from "node:http";
import type { FreshHead } from "./head.js";

/** Above this many bytes, joining the two pieces costs what it saves. */
const SMALL = 8192;

/** Node's name for a composed head, `null` before; there is no public one. Where it is missing, Node is given everything. */
interface Composed {
  _header?: unknown;
}

/** Writes the head: `pairs` by way of Node, which has to look at some of them, and those of `head` behind them. */
export function writeHead(raw: ServerResponse, pairs: OutgoingHttpHeader[], head: FreshHead): void {
  if (!isNodes(raw) || raw._header !== null) {
    raw.writeHead(raw.statusCode, [...pairs, ...head.pairs]);
    return;
  }
  raw.writeHead(raw.statusCode, pairs);
  // From here on it is text, which ends with the empty line.
  if (head.pairs.length > 0) raw._header = `${String(raw._header).slice(0, -2)}${head.lines()}\r\n`;
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

/** A response of another class, or one that frames its body, does with head and body what only it knows. */
function isNodes(raw: ServerResponse): raw is ServerResponse & Composed {
  return Object.getPrototypeOf(raw) === ServerResponse.prototype;
}
