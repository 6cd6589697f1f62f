/**
 * The trace that a request belongs to: the caller's trace, if the request has a valid `traceparent`, else a new trace. Implements W3C Trace
 * Context (https://www.w3.org/TR/trace-context/), version 00 only.
 *
 * Not for secrets: the ids are unique, but the next ones are in memory already.
 *
 * @example
 * const trace = TraceContext.of(ctx);
 * await fetch(url, { headers: { ...trace?.outboundHeaders() }, signal: ctx.signal });
 */
import type { IncomingMessage } from "node:http";
import { isWhitespace, trimWhitespace } from "../http/response/field-value.js";
import { type Extensible, Extension } from "../http/request/extension.js";
import { RandomBatch } from "../runtime/random-batch.js";

export const MAX_TRACESTATE_MEMBERS = 32;
export const MAX_TRACESTATE_BYTES = 512;
/** Bit 0 of the flags: the caller may have recorded the trace. It is passed on; the framework makes no decision by it. */
export const FLAG_SAMPLED = 0x01;

/** Neither id may be all zero (section 3.2.2). Lengths are fixed and there are no alternatives, so the pattern does not backtrack. */
const TRACEPARENT = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
const extension = new Extension<TraceContext>("TraceContext");

const IDS_PER_BATCH = 128;
const ZERO_TRACE_ID = "0".repeat(32);
const ZERO_SPAN_ID = "0".repeat(16);
const traceIds = RandomBatch.ofText(16, IDS_PER_BATCH, (bytes) => bytes.toString("hex"));
const spanIds = RandomBatch.ofText(8, IDS_PER_BATCH, (bytes) => bytes.toString("hex"));

export class TraceContext {
  private constructor(
    /** 32 lower-case hexadecimal digits. */
    readonly traceId: string,
    /** 16 lower-case hexadecimal digits: the span of the caller, or in a new trace the span of the request. */
    readonly parentSpanId: string,
    /** The whole octet as the caller sent it, unknown bits included; in a new trace `FLAG_SAMPLED`. */
    readonly flags: number,
    /** True for a caller's trace, false for a new trace. */
    readonly continued: boolean,
    /** As the caller sent it, without surrounding whitespace. */
    readonly tracestate: string | undefined,
  ) {}

  /** A new trace. */
  static root(): TraceContext {
    return new TraceContext(createTraceId(), createSpanId(), FLAG_SAMPLED, false, undefined);
  }

  /**
   * The trace of these header values; `undefined` if `traceparent` is not valid. Whitespace around it is not valid. An invalid `tracestate`
   * is dropped, and the trace stays. Never throws, also not for values of other types.
   */
  static parse(traceparent: string | undefined, tracestate?: string): TraceContext | undefined {
    if (typeof traceparent !== "string" || !TRACEPARENT.test(traceparent)) return undefined;
    const state = typeof tracestate === "string" ? parseTracestate(tracestate) : undefined;
    const flags = Number.parseInt(traceparent.slice(53), 16);
    return new TraceContext(traceparent.slice(3, 35), traceparent.slice(36, 52), flags, true, state);
  }

  /** The trace of a request, or a new trace. A repeated `traceparent` is ignored; repeated `tracestate` lines form one list. */
  static fromRequest(request: Pick<IncomingMessage, "headers" | "headersDistinct">): TraceContext {
    const { traceparent, tracestate } = request.headers;
    // Node joins repeated lines with ", ". No valid traceparent has a comma; tracestate must be joined without the space.
    if (typeof traceparent !== "string") return TraceContext.root();
    const states = tracestate === undefined ? undefined : request.headersDistinct["tracestate"]?.join(",");
    return TraceContext.parse(traceparent, states) ?? TraceContext.root();
  }

  /** The trace of this request; `undefined` if the trace-context stage is off. */
  static of(ctx: Extensible): TraceContext | undefined {
    return extension.find(ctx);
  }

  /** @internal The stage calls it once for each request. */
  static set(ctx: Extensible, trace: TraceContext): void {
    extension.set(ctx, trace);
  }

  get sampled(): boolean {
    return (this.flags & FLAG_SAMPLED) === FLAG_SAMPLED;
  }

  /** Headers for one outgoing request, for `fetch` and `node:http` alike. Each call makes a new child span. */
  outboundHeaders(): Record<string, string> {
    const flags = this.flags.toString(16).padStart(2, "0");
    const traceparent = `00-${this.traceId}-${createSpanId()}-${flags}`;
    return this.tracestate === undefined ? { traceparent } : { traceparent, tracestate: this.tracestate };
  }
}

/** 32 lower-case hexadecimal digits, never all zero (section 3.2.2.3). */
export function createTraceId(): string {
  const id = traceIds.next();
  return id === ZERO_TRACE_ID ? createTraceId() : id;
}

/** 16 lower-case hexadecimal digits, never all zero (section 3.2.2.4). */
export function createSpanId(): string {
  const id = spanIds.next();
  return id === ZERO_SPAN_ID ? createSpanId() : id;
}

/**
 * The value of `tracestate` without surrounding whitespace; `undefined` if it is too long, has no member or too many, or has bytes that are
 * not printable ASCII. Its members are other vendors' data (section 3.3): they are passed on unchanged, so only these limits are checked.
 */
function parseTracestate(value: string): string | undefined {
  const text = trimWhitespace(value);
  if (text.length > MAX_TRACESTATE_BYTES) return undefined;
  let members = 0;
  let isInMember = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return undefined;
    // A member counts from its first character on. Empty members and members of whitespace do not count.
    if (code === 0x2c) isInMember = false;
    else if (!isInMember && !isWhitespace(code)) {
      isInMember = true;
      members++;
    }
  }
  return members === 0 || members > MAX_TRACESTATE_MEMBERS ? undefined : text;
}
