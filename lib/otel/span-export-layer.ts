/**
 * The layer that turns each span of the facade into one of OpenTelemetry: name, fields as attributes, a failure as its status, the
 * facade's parent as its parent. Events stay in the log. Parents are handed over as values, so that nobody's context manager is asked.
 */
import type { TraceState, Context, HrTime, Span, SpanKind, Tracer, TracerProvider } from "@opentelemetry/api";
import { api } from "./peers.js";
import type { Fields, TracingLayer, SpanOutcome, RemoteParent, SpanData } from "../tracing/tracing.js";
import { REQUEST } from "../observe/request-span.js";
import { setAttributes, truncated, failureText } from "./attributes.js";
import { newSpanId, newTraceId } from "../observe/trace-context.js";
import type { Clock } from "../runtime/clock.js";

/**
 * A `tracestate` that was validated where it came in, for the SDK to carry along. It stays the text it was: taking it apart, for
 * every request, would only serve to put it together again.
 */
export class RawTraceState implements TraceState {
  constructor(private readonly text: string) {}

  serialize(): string {
    return this.text;
  }

  get(key: string): string | undefined {
    return api.createTraceState(this.text).get(key);
  }

  set(key: string, value: string): TraceState {
    return api.createTraceState(this.text).set(key, value);
  }

  unset(key: string): TraceState {
    return api.createTraceState(this.text).unset(key);
  }
}

/** Spans of this target are outbound calls. */
export const CLIENT_TARGET = "framework::otel::client";

const FIRST_FAILED_STATUS = 400;
/** Targets come from code; should they not, the rest share a scope. */
export const MAX_SCOPES = 256;
const SHARED_SCOPE = "framework";

/** What a span of the facade is exported as. */
interface Exported {
  readonly span: Span;
  /** See `WallTime`. */
  readonly anchor: number;
}

export class SpanExportLayer implements TracingLayer<Exported | undefined> {
  readonly #provider: TracerProvider;
  readonly #ids: IdSource;
  readonly #time: WallTime;
  readonly #tracers = new Map<string, Tracer>();
  // Only of outbound calls, which send their ids along.
  readonly #clients = new WeakMap<SpanData, Span>();
  #closed = false;

  constructor(provider: TracerProvider, ids: IdSource, time: WallTime) {
    this.#provider = provider;
    this.#time = time;
    this.#ids = ids;
  }

  /** Turns no more spans into anything. */
  close(): void {
    this.#closed = true;
  }

  /** What an outbound call is exported as; `undefined` where it is not. */
  clientSpan(span: SpanData): Span | undefined {
    return this.#clients.get(span);
  }

  onNewSpan(span: SpanData, parent: Exported | undefined): Exported | undefined {
    if (this.#closed) return undefined;
    const anchor = parent === undefined ? this.#time.anchor() : parent.anchor;
    const started = this.#start(span, parent?.span, this.#time.at(anchor));
    // What the framework records of a request was cut from nothing larger than its head, and is not worth a copy.
    setAttributes(started, span.fields, span.name === REQUEST ? truncated : undefined);
    if (span.target === CLIENT_TARGET) this.#clients.set(span, started);
    return { span: started, anchor };
  }

  /** As in the log, what is recorded is recorded as it is now. */
  onRecord(_span: SpanData, fields: Fields, exported: Exported | undefined): void {
    if (exported?.span.isRecording() === true) setAttributes(exported.span, fields);
  }

  onClose({ target, fields }: SpanData, outcome: SpanOutcome, exported: Exported | undefined): void {
    if (exported === undefined) return;
    const { span, anchor } = exported;
    if (!outcome.ok) span.setStatus({ code: api.SpanStatusCode.ERROR, message: failureText(outcome.error) });
    else if (target === CLIENT_TARGET) judgeAnswer(fields, span);
    span.end(this.#time.at(anchor));
  }

  #start(span: SpanData, parent: Span | undefined, startTime: HrTime): Span {
    const tracer = this.#tracerOf(span.target);
    const options = { kind: kindOf(span), startTime };
    const context = parentContext(span.remoteParent, parent);
    const ids = context === api.ROOT_CONTEXT ? idsOfRoot(span) : undefined;
    const name = truncated(span.name);
    if (ids === undefined) return tracer.startSpan(name, options, context);
    return this.#ids.using(ids, () => tracer.startSpan(name, options, context));
  }

  #tracerOf(target: string): Tracer {
    return this.#tracers.get(target) ?? this.#newTracer(target);
  }

  #newTracer(target: string): Tracer {
    if (this.#tracers.size >= MAX_SCOPES) return this.#provider.getTracer(SHARED_SCOPE);
    const tracer = this.#provider.getTracer(truncated(target));
    this.#tracers.set(target, tracer);
    return tracer;
  }
}

/** The caller's span beats the span around, which only happens to be there. */
function parentContext(remote: RemoteParent | undefined, parent: Span | undefined): Context {
  if (remote !== undefined) return remoteContext(remote);
  return parent === undefined ? api.ROOT_CONTEXT : api.trace.setSpan(api.ROOT_CONTEXT, parent);
}

function remoteContext({ traceId, spanId, traceFlags, traceState }: RemoteParent): Context {
  const caller = { traceId, spanId, traceFlags, isRemote: true };
  if (traceState === undefined) return api.trace.setSpanContext(api.ROOT_CONTEXT, caller);
  return api.trace.setSpanContext(api.ROOT_CONTEXT, { ...caller, traceState: new RawTraceState(traceState) });
}

/** The ids that a trace which began here has already: the request's log lines and outbound headers carry them. */
function idsOfRoot({ name, fields }: SpanData): SpanIds | undefined {
  if (name !== REQUEST || fields["continued_trace"] !== false) return undefined;
  const { trace_id: traceId, parent_span_id: spanId } = fields;
  if (typeof traceId !== "string" || !api.isValidTraceId(traceId)) return undefined;
  return typeof spanId === "string" && api.isValidSpanId(spanId) ? { traceId, spanId } : undefined;
}

/** Of the two spans of a request only the outer one is what the caller sees. */
function kindOf({ target, name, parent, remoteParent }: SpanData): SpanKind {
  if (target === CLIENT_TARGET) return api.SpanKind.CLIENT;
  const isOutermost = parent === undefined || remoteParent !== undefined;
  return name === REQUEST && isOutermost ? api.SpanKind.SERVER : api.SpanKind.INTERNAL;
}

/** Of an outbound call a refusal is a failure, too, though nothing was thrown. */
function judgeAnswer({ status }: Fields, span: Span): void {
  if (typeof status === "number" && status >= FIRST_FAILED_STATUS) {
    span.setStatus({ code: api.SpanStatusCode.ERROR, message: `HTTP ${status}` });
  }
}

/**
 * Where ids come from: from where the trace context has them, but for the root of a trace that the request already has ids for. Its
 * log lines carry them and so do the headers it sends on; the exported span must not invent others.
 */
export interface SpanIds {
  /** 32 lower-case hex characters, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hex characters, not all zero. */
  readonly spanId: string;
}

/** An `IdGenerator` of either SDK package: a declaration that users see names neither. */
export class IdSource {
  #next: SpanIds | undefined;

  /** Runs `start`, which starts a root, with these ids. */
  using<T>(ids: SpanIds, start: () => T): T {
    this.#next = ids;
    try {
      return start();
    } finally {
      this.#next = undefined;
    }
  }

  generateTraceId(): string {
    return this.#next === undefined ? newTraceId() : this.#next.traceId;
  }

  generateSpanId(): string {
    return this.#next === undefined ? newSpanId() : this.#next.spanId;
  }
}

/**
 * The time of spans: steps of the monotonic clock from an anchor on the calendar. All spans of a trace share the anchor of its first, so
 * that a child never sticks out of its parent, whatever happens to the machine's calendar meanwhile. The calendar has whole milliseconds
 * only; the fraction is what several looks at it leave possible.
 */
export class WallTime {
  readonly #clock: Clock;
  #anchor = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What to add to the monotonic clock from now on. Right within a millisecond, and soon within microseconds. */
  anchor(): number {
    // The calendar is cut down to its millisecond: the true difference is this, or up to one more.
    const least = this.#clock.now() - this.#clock.monotonic();
    if (least > this.#anchor || least < this.#anchor - 1) this.#anchor = least;
    return this.#anchor;
  }

  /** Now, as the SDK takes it without looking at clocks of its own: whole seconds since the Unix epoch, and nanoseconds. */
  at(anchor: number): HrTime {
    const milliseconds = anchor + this.#clock.monotonic();
    return [Math.floor(milliseconds / 1000), Math.floor((milliseconds % 1000) * 1e6)];
  }
}
