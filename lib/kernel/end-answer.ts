/**
 * The last call of a small answer. Node keeps a body that is given to `end` apart from the head and hands the socket a list of two
 * pieces, which costs more than everything else the answer goes through. Text that is ASCII goes out as the end of the head instead,
 * which is text as well: one piece, one write.
 */
import { ServerResponse } from "node:http";

/** Above this many bytes, joining the two pieces costs what it saves. */
const SMALL = 8192;

/** Node's name for a head that is composed and not yet sent; there is no public one. Where it is missing, `end` is given the body. */
interface Composed {
  _header?: unknown;
}

/** Ends an answer whose head is written. `length` is the body's in bytes. */
export function endAnswer(raw: ServerResponse, body: string | Uint8Array | undefined, length: number): void {
  if (typeof body === "string" && length === body.length && length <= SMALL && appendToHead(raw, body)) raw.end();
  else if (body === undefined) raw.end();
  else raw.end(body);
}

function appendToHead(raw: ServerResponse, body: string): boolean {
  // Node declares only what is public.
  const composed = raw as ServerResponse & Composed;
  const head = composed._header;
  // A response of another class, or one that frames its body, does with a body what only it knows.
  if (typeof head !== "string" || raw.chunkedEncoding || Object.getPrototypeOf(raw) !== ServerResponse.prototype) {
    return false;
  }
  composed._header = head + body;
  return true;
}
