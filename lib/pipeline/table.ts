/**
 * The table of the stages that every request passes, the outermost first. Numbers and order are here and nowhere else. The layer of a
 * slot is in `lib/stages`, in a file or folder with the name of the slot; it does not know its number. A slot that is off is not in
 * the chain.
 *
 * ```
 *  request ─▶ 1 2 │ 3 4 beside │ 5 6 7 │ 8 9 │ 10 11 12 13 14 15 │ 16 17 │ 18 19 20 │ 21 │ 22 ─▶ handler
 *                                                                                        └─ 23 when nothing matches
 *  response ◀─ the same way back: every stage further out sees a refusal by an inner stage, counts it and adds its headers
 * ```
 */

/** How a slot stands in the chain: around the stages below, beside them, as data, as the router, or as the fallback of the router. */
export type StageKind = "layer" | "beside" | "data" | "router" | "fallback";

const ROWS = [
  [1, "devProxy", "layer", "the front end's dev server is asked before any other stage"],
  [2, "proxy", "layer", "rewrites the target before anything routes, logs or limits by it"],
  [3, "health", "beside", "responds from its own state; nothing below can refuse it"],
  [4, "uagEndpoint", "beside", "the unified application graph (UAG) for tools, in debug builds only"],
  [5, "compression", "layer", "sees the final body"],
  [6, "securityHeaders", "layer", "outside every refusal, so 413, 408, 429 and 500 carry the headers"],
  [7, "cors", "layer", "responds to a preflight before anything below runs"],
  [8, "requestId", "layer", "outside the admission stages, so their refusals carry the id too"],
  [8, "traceContext", "layer", "inside the id; its span surrounds the access line, which carries the trace"],
  [9, "accessLog", "layer", "outside every refusal, so 500, 413, 408 and 429 are logged"],
  [9, "metrics", "layer", "outside every refusal, so 500, 413, 408 and 429 are counted"],
  [10, "catchPanic", "layer", "an unhandled error becomes a 500 that every stage further out sees as a response"],
  [11, "errorMapping", "layer", "gives a problem body to every error response without a body"],
  [12, "bodyLimit", "layer", "refuses an upload before a byte of it is stored"],
  [13, "timeout", "layer", "a slow handler cannot hold a connection open"],
  [14, "maintenance", "layer", "outside session and CSRF: nothing is loaded for a request that is refused"],
  [15, "rateLimit", "layer", "inside maintenance, outside the session: a flood of requests costs no store access"],
  [16, "session", "layer", "loaded before CSRF needs the token"],
  [17, "csrf", "layer", "an unsafe request is rejected before it can act"],
  [18, "pages", "layer", "inside CSRF, so that a rejection is not rendered as a page"],
  [19, "pageContracts", "data", "the registry of page shapes, read by the code that renders pages"],
  [20, "redirectMapper", "layer", "resolves redirects against the route table and the session"],
  [21, "layers", "layer", "the application's own layers, in call order, inside every stage that refuses"],
  [22, "router", "router", "matching and handler"],
  [23, "staticFiles", "fallback", "reached only where no route matches"],
] as const satisfies readonly (readonly [number, string, StageKind, string])[];

export type Slot = (typeof ROWS)[number][1];

export interface Stage {
  readonly number: number;
  readonly slot: Slot;
  readonly kind: StageKind;
  /** The reason why the stage stands where it stands. */
  readonly why: string;
}

/** 23 stages in 25 slots. */
export const STAGES: readonly Stage[] = Object.freeze(
  ROWS.map(([number, slot, kind, why]) => Object.freeze({ number, slot, kind, why })),
);
