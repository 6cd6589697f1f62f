/**
 * All private names of Node that the framework uses. Each saves time and does nothing else. `node-internals-public.ts` beside this file has
 * the same functions on Node's documented API alone, and `docs/decisions/node-private-names.md` has the figures. `#node-internals` in
 * `package.json` chooses: `node --conditions=stagecraft-public-node`, Bun and Deno take the other file. Not for names that a behaviour
 * depends on.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

/** `_header` is the composed head until it is sent; `null` before. */
interface Composed {
  _header?: unknown;
}

/** The text of a composed head; `null` before the head is composed; any other value if this version of Node has no such text. */
export function getHeadText({ _header: text }: ServerResponse & Composed): unknown {
  return text;
}

/** Replaces the text of the head. Returns false if this version of Node allows no other text. */
export function setHeadText(raw: ServerResponse & Composed, text: string | null): boolean {
  try {
    raw._header = text;
    return true;
  } catch {
    return false;
  }
}

const NOT_ASCII = /[\u0080-\uffff]/;

/** Whether a composed head may have characters beyond ASCII. */
export function mayHaveNonAsciiHead(raw: ServerResponse): boolean {
  const head = getHeadText(raw);
  return typeof head === "string" && NOT_ASCII.test(head);
}

/** The fields of a request that was read to its end. */
interface RequestState {
  _dumped: boolean;
  readonly _readableState:
    Record<"ended" | "endEmitted" | "destroyed" | "closed" | "closeEmitted", boolean> | undefined;
}

/**
 * Ends a request that has no body and no listener. Node would read it to its end in eight callbacks without effect. From version 24.12 on
 * Node sets these fields itself for requests without a body, on servers with `optimizeEmptyRequests`.
 */
export function endUnobserved(incoming: IncomingMessage): void {
  // Node's types declare the public fields only.
  const internals = incoming as unknown as RequestState;
  const { _readableState: state } = internals;
  if (state === undefined) return;
  internals._dumped = true;
  state.ended = true;
  state.endEmitted = true;
  state.destroyed = true;
  state.closed = true;
  state.closeEmitted = true;
}
