/**
 * The trace a request belongs to: the caller's, where it sent a valid `traceparent`, else a new one that starts here.
 * Follows W3C Trace Context (https://www.w3.org/TR/trace-context/), version 00 and no other.
 *
 * @example
 * const trace = TraceContext.of(ctx);
 * await fetch(url, { headers: { ...trace?.outboundHeaders() }, signal: ctx.signal });
 */
import type { IncomingMessage } from "node:http";
import { type Extensible, Extension } from "../http/extension.js";
import { newSpanId, newTraceId } from "./trace-ids.js";
import { readTracestate } from "./tracestate.js";

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
