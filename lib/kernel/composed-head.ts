/**
 * A head that Node has composed and not yet sent is text, and more text can be put behind it. That is cheaper than what Node's own calls do.
 *
 * Header lines are looked at by Node character by character, name and value, every time; lines that were made of checked pieces need
 * not be. And a body that is given to `end` is kept apart from the head, and the socket handed a list of two pieces; text that is ASCII
 * goes out as the end of the head instead: one piece, one write.
 *
 * A response on which somebody has put methods of his own, or whose length Node is to check, is left to Node whole. Only methods that were
 * put on Node's own class before this file was loaded cannot be told apart: such an `end` does not see a small body.
 */
import { ServerResponse, type OutgoingHttpHeader } from "node:http";
import type { FreshHead } from "./head.js";

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
export function writeHead(raw: ServerResponse, pairs: OutgoingHttpHeader[], head: FreshHead): void {
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
