/**
 * The functions of `node-internals.ts` on Node's documented API alone: Node composes and writes every head, and ends every request. It is
 * slower and does the same. `node --conditions=stagecraft-public-node` takes this file, for a version of Node that has other private names.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

/** Node has no public name for the text. */
export function getHeadText(_raw: ServerResponse): unknown {
  return undefined;
}

export function setHeadText(_raw: ServerResponse, _text: string | null): boolean {
  return false;
}

const NOT_ASCII = /[\u0080-\uffff]/;

/** Also true for a head without a header that was set: code before the application may have written it, with any headers. */
export function mayHaveNonAsciiHead(raw: ServerResponse): boolean {
  const values = Object.values(raw.getHeaders());
  return values.length === 0 || [raw.statusMessage, ...values].some((value) => NOT_ASCII.test(String(value)));
}

/** Node ends the request after the response. */
export function endUnobserved(_incoming: IncomingMessage): void {}
