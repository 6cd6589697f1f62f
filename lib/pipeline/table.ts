/**
 * The one ordered table: every stage a request passes, outermost first. Numbers and order live here and nowhere else; layers live
 * in the room of their concern and do not know where they stand. A slot that is off is not in the chain at all.
 *
 * ```
 *  request ─▶ 1 2 │ 3 4 beside │ 5 6 7 │ 8 9 │ 10 11 12 13 14 15 │ 16 17 │ 18 19 20 │ 21 │ 22 ─▶ handler
 *                                                                                        └─ 23 when nothing matches
 *  answer  ◀─ the same way back: what an inner stage refuses is seen, counted and completed by every stage further out
 * ```
 */

/** How a slot sits: around what is below, beside it, as data, as the router, or as the router's fallback. */
export type StageKind = "layer" | "beside" | "data" | "router" | "fallback";

const ROWS = [
  [1, "devProxy", "layer", "the front end's dev server is asked before anything of ours"],
  [2, "proxy", "layer", "rewrites the target before anything routes, logs or limits by it"],
  [3, "health", "beside", "answers from its own state; nothing below can refuse it"],
  [4, "uagEndpoint", "beside", "the application's graph for tools, in debug builds only"],
  [5, "compression", "layer", "sees the final body"],
  [6, "securityHeaders", "layer", "outside every refusal, so 413, 408, 429 and 500 carry the headers"],
  [7, "cors", "layer", "answers a preflight without waking anything below"],
  [8, "requestId", "layer", "every answer from here inwards carries the id; outside the admission stages"],
  [8, "traceContext", "layer", "inside the id; its span is around the access line, which inherits the trace"],
  [9, "accessLog", "layer", "outside every refusal, so 500, 413, 408 and 429 are logged"],
  [9, "metrics", "layer", "outside every refusal, so 500, 413, 408 and 429 are counted"],
  [10, "catchPanic", "layer", "a panic becomes a 500 that every stage further out sees as an answer"],
  [11, "errorMapping", "layer", "gives bodiless errors a problem body, whoever refused"],
  [12, "bodyLimit", "layer", "refuses an upload before a byte of it is kept"],
  [13, "timeout", "layer", "a slow handler cannot hold a connection open"],
  [14, "maintenance", "layer", "outside session and CSRF: nothing is loaded for a request that is refused"],
  [15, "rateLimit", "layer", "inside maintenance, outside the session: a flood costs no store access"],
  [16, "session", "layer", "loaded before CSRF needs the token"],
  [17, "csrf", "layer", "an unsafe request is rejected before it can act"],
  [18, "pages", "layer", "inside CSRF, so a rejection is not dressed up as a page"],
  [19, "pageContracts", "data", "the registry of page shapes, for whoever renders"],
  [20, "redirectMapper", "layer", "resolves redirects against the route table and the session"],
  [21, "layers", "layer", "the application's own, in call order, inside every refusal"],
  [22, "router", "router", "matching and handler"],
  [23, "staticFiles", "fallback", "reached only where no route matches"],
] as const satisfies readonly (readonly [number, string, StageKind, string])[];

export type Slot = (typeof ROWS)[number][1];

export interface Stage {
  readonly number: number;
  readonly slot: Slot;
  readonly kind: StageKind;
  /** Why it stands where it stands. */
  readonly why: string;
}

/** 23 stages in 25 slots. */
export const STAGES: readonly Stage[] = Object.freeze(
  ROWS.map(([number, slot, kind, why]) => Object.freeze({ number, slot, kind, why })),
);
