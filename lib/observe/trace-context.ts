/**
 * The trace a request belongs to: the caller's, where it sent a valid `traceparent`, else a new one that starts here.
 * Follows W3C Trace Context (https://www.w3.org/TR/trace-context/), version 00 and no other.
 *
 * @example
 * const trace = TraceContext.of(ctx);
 * await fetch(url, { headers: { ...trace?.outboundHeaders() }, signal: ctx.signal });
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isWhitespace, trimWhitespace } from "../http/field-value.js";
import { type Extensible, Extension } from "../http/extension.js";

/**
 * Random ids for traces (16 bytes) and spans (8 bytes), in lower-case hexadecimal, never all zero (W3C Trace Context, sections
 * 3.2.2.3 and 3.2.2.4). Drawn from the system's generator in one piece for many ids: a draw is a system call, a slice is not.
 *
 * Not for secrets: they are unique, and an id tells where in the piece the next ones lie.
 */
const POOL_BYTES = 3072;
const NO_SPAN = "0".repeat(16);
const NO_TRACE = "0".repeat(32);

// Like the generator behind it, the pool belongs to the process; it is filled by the first draw, not by the import.
let pool = "";
let used = 0;

/** 32 hexadecimal digits. */
export function newTraceId(): string {
  const id = draw(32);
  return id === NO_TRACE ? newTraceId() : id;
}

/** 16 hexadecimal digits. */
export function newSpanId(): string {
  const id = draw(16);
  return id === NO_SPAN ? newSpanId() : id;
}

function draw(digits: number): string {
  if (used + digits > pool.length) {
    pool = randomBytes(POOL_BYTES).toString("hex");
    used = 0;
  }
  const id = pool.slice(used, used + digits);
  used += digits;
  return id;
}

/**
 * `tracestate`: other vendors' notes on a trace, handed on as they came (W3C Trace Context, section 3.3). Nothing in it is understood
 * here, so nothing but its size, its number of members and its bytes is looked at; what does not fit is dropped whole.
 */
export const MAX_TRACESTATE_MEMBERS = 32;
export const MAX_TRACESTATE_BYTES = 512;

/** The text without surrounding blanks; `undefined` where it is too long, has too many members, other bytes, or no member at all. */
export function readTracestate(value: string): string | undefined {
  const text = trimWhitespace(value);
  if (text.length > MAX_TRACESTATE_BYTES) return undefined;
  let members = 0;
  let isInside = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return undefined;
    // A member counts with its first character; empty ones and blank ones never do.
    if (code === 0x2c) isInside = false;
    else if (!isInside && !isWhitespace(code)) {
      isInside = true;
      members++;
    }
  }
  return members === 0 || members > MAX_TRACESTATE_MEMBERS ? undefined : text;
}

/** Bit 0 of the flags: the caller may have recorded the trace. It is handed on, and nothing here consults it. */
export const FLAG_SAMPLED = 0x01;

/** Neither id all zero (section 3.2.2). Fixed lengths and no choices: nothing to backtrack into. */
const TRACEPARENT = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
const extension = new Extension<TraceContext>("TraceContext");

export class TraceContext {
  private constructor(
    /** 32 lower-case hexadecimal digits. */
    readonly traceId: string,
    /** 16 lower-case hexadecimal digits: the caller's span; of a root, its own. */
    readonly parentSpanId: string,
    /** The whole octet as it came, unknown bits included; of a root `FLAG_SAMPLED`. */
    readonly flags: number,
    /** True for a caller's trace, false for a root. */
    readonly continued: boolean,
    /** As it came, without surrounding blanks. */
    readonly tracestate: string | undefined,
  ) {}

  /** A new trace. */
  static root(): TraceContext {
    return new TraceContext(newTraceId(), newSpanId(), FLAG_SAMPLED, false, undefined);
  }

  /**
   * The trace of these header values; `undefined` where `traceparent` is not exactly what the standard says, blanks included.
   * A `tracestate` that is not valid is dropped alone. Never throws, whatever it is given.
   */
  static parse(traceparent: string | undefined, tracestate?: string): TraceContext | undefined {
    if (typeof traceparent !== "string" || !TRACEPARENT.test(traceparent)) return undefined;
    const state = typeof tracestate === "string" ? readTracestate(tracestate) : undefined;
    const flags = Number.parseInt(traceparent.slice(53), 16);
    return new TraceContext(traceparent.slice(3, 35), traceparent.slice(36, 52), flags, true, state);
  }

  /** The trace of a request, or a new one. A repeated `traceparent` counts as none; repeated `tracestate` lines are one list. */
  static fromRequest(request: Pick<IncomingMessage, "headers" | "headersDistinct">): TraceContext {
    const { traceparent, tracestate } = request.headers;
    // Repeated lines come joined: no traceparent is valid with a comma, and only a tracestate has to be joined without the blank.
    if (typeof traceparent !== "string") return TraceContext.root();
    const states = tracestate === undefined ? undefined : request.headersDistinct["tracestate"]?.join(",");
    return TraceContext.parse(traceparent, states) ?? TraceContext.root();
  }

  /** The trace of this request; `undefined` where the trace-context stage is off. */
  static of(ctx: Extensible): TraceContext | undefined {
    return extension.find(ctx);
  }

  /** @internal Called once a request, by the stage. */
  static set(ctx: Extensible, trace: TraceContext): void {
    extension.set(ctx, trace);
  }

  get sampled(): boolean {
    return (this.flags & FLAG_SAMPLED) === FLAG_SAMPLED;
  }

  /** Headers for one outgoing request, for `fetch` and `node:http` alike: a new child span at every call. */
  outboundHeaders(): Record<string, string> {
    const flags = this.flags.toString(16).padStart(2, "0");
    const traceparent = `00-${this.traceId}-${newSpanId()}-${flags}`;
    return this.tracestate === undefined ? { traceparent } : { traceparent, tracestate: this.tracestate };
  }
}
