/**
 * The tracing layer that exports each span of the framework as a span of OpenTelemetry: its fields become attributes, an error becomes its
 * status, and its parent stays its parent. Events stay in the log. Parents are passed explicitly, so no global context manager is used.
 */
import type { Context, HrTime, Span, SpanKind, Tracer, TracerProvider, TraceState } from "@opentelemetry/api";
import { REQUEST } from "../request-span.js";
import { createSpanId, createTraceId } from "../trace-context.js";
import type { Clock } from "../../runtime/clock.js";
import type { TracingLayer } from "../../tracing/registry.js";
import type { Fields, RemoteParent, SpanData, SpanOutcome } from "../../tracing/subscriber.js";
import { describeError, setAttributes, truncateText } from "./attributes.js";
import { api } from "./peers.js";

/** The tracing target of outbound calls. */
export const CLIENT_TARGET = "framework::otel::client";

const FIRST_ERROR_STATUS = 400;
/** Each target has a separate scope; targets beyond this number share one scope. */
export const MAX_SCOPES = 256;
const SHARED_SCOPE = "framework";

interface ExportedSpan {
  readonly span: Span;
  /** An anchor of `WallTime`. */
  readonly anchor: number;
}

export class SpanExportLayer implements TracingLayer<ExportedSpan | undefined> {
  readonly needsShutdown = true;
  readonly #provider: TracerProvider;
  readonly #ids: IdSource;
  readonly #time: WallTime;
  readonly #tracers = new Map<string, Tracer>();
  /** The spans of outbound calls, which send their ids in headers. */
  readonly #clientSpans = new WeakMap<SpanData, Span>();
  #isClosed = false;

  constructor(provider: TracerProvider, ids: IdSource, time: WallTime) {
    this.#provider = provider;
    this.#time = time;
    this.#ids = ids;
  }

  /** Ignores later spans. */
  close(): void {
    this.#isClosed = true;
  }

  /** The exported span of an outbound call; `undefined` if it is not exported. */
  clientSpan(span: SpanData): Span | undefined {
    return this.#clientSpans.get(span);
  }

  onNewSpan(span: SpanData, parent: ExportedSpan | undefined): ExportedSpan | undefined {
    if (this.#isClosed) return undefined;
    const anchor = parent === undefined ? this.#time.anchor() : parent.anchor;
    const started = this.#start(span, parent?.span, this.#time.at(anchor));
    // The texts of a request span come from its head, which is small, so a copy is not worth its time.
    setAttributes(started, span.fields, span.name === REQUEST ? truncateText : undefined);
    if (span.target === CLIENT_TARGET) this.#clientSpans.set(span, started);
    return { span: started, anchor };
  }

  /** Takes the values as they are now, as the log does. */
  onRecord(_span: SpanData, fields: Fields, exported: ExportedSpan | undefined): void {
    if (exported?.span.isRecording() === true) setAttributes(exported.span, fields);
  }

  onClose({ target, fields }: SpanData, outcome: SpanOutcome, exported: ExportedSpan | undefined): void {
    if (exported === undefined) return;
    const { span, anchor } = exported;
    if (!outcome.ok) span.setStatus({ code: api.SpanStatusCode.ERROR, message: describeError(outcome.error) });
    else if (target === CLIENT_TARGET) setCallStatus(span, fields);
    span.end(this.#time.at(anchor));
  }

  #start(span: SpanData, parent: Span | undefined, startTime: HrTime): Span {
    const tracer = this.#getTracer(span.target);
    const options = { kind: getKind(span), startTime };
    const context = createParentContext(span.remoteParent, parent);
    const ids = context === api.ROOT_CONTEXT ? findRootIds(span) : undefined;
    const name = truncateText(span.name);
    if (ids === undefined) return tracer.startSpan(name, options, context);
    return this.#ids.using(ids, () => tracer.startSpan(name, options, context));
  }

  #getTracer(target: string): Tracer {
    return this.#tracers.get(target) ?? this.#createTracer(target);
  }

  #createTracer(target: string): Tracer {
    if (this.#tracers.size >= MAX_SCOPES) return this.#provider.getTracer(SHARED_SCOPE);
    const tracer = this.#provider.getTracer(truncateText(target));
    this.#tracers.set(target, tracer);
    return tracer;
  }
}

/** A remote parent takes precedence over the current span of this process. */
function createParentContext(remote: RemoteParent | undefined, parent: Span | undefined): Context {
  if (remote !== undefined) return createRemoteContext(remote);
  return parent === undefined ? api.ROOT_CONTEXT : api.trace.setSpan(api.ROOT_CONTEXT, parent);
}

function createRemoteContext({ traceId, spanId, traceFlags, traceState }: RemoteParent): Context {
  const caller = { traceId, spanId, traceFlags, isRemote: true };
  if (traceState === undefined) return api.trace.setSpanContext(api.ROOT_CONTEXT, caller);
  return api.trace.setSpanContext(api.ROOT_CONTEXT, { ...caller, traceState: new RawTraceState(traceState) });
}

/** A `tracestate` that the trace context has already checked. It stays a text, because the SDK only passes it on. */
class RawTraceState implements TraceState {
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

/** The ids of a request that starts a trace; `undefined` for any other span. */
function findRootIds({ name, fields }: SpanData): SpanIds | undefined {
  if (name !== REQUEST || fields["continued_trace"] !== false) return undefined;
  const { trace_id: traceId, parent_span_id: spanId } = fields;
  if (typeof traceId !== "string" || !api.isValidTraceId(traceId)) return undefined;
  return typeof spanId === "string" && api.isValidSpanId(spanId) ? { traceId, spanId } : undefined;
}

/** A request has two spans. Only the outer span is of kind SERVER. */
function getKind({ target, name, parent, remoteParent }: SpanData): SpanKind {
  if (target === CLIENT_TARGET) return api.SpanKind.CLIENT;
  const isOutermost = parent === undefined || remoteParent !== undefined;
  return name === REQUEST && isOutermost ? api.SpanKind.SERVER : api.SpanKind.INTERNAL;
}

/** An outbound call with an error status is an error, although `fetch` does not throw. */
function setCallStatus(span: Span, { status }: Fields): void {
  if (typeof status === "number" && status >= FIRST_ERROR_STATUS) {
    span.setStatus({ code: api.SpanStatusCode.ERROR, message: `HTTP ${status}` });
  }
}

interface SpanIds {
  /** 32 lower-case hex characters, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hex characters, not all zero. */
  readonly spanId: string;
}

/**
 * The `IdGenerator` of the SDK. A request that starts a trace already has its ids: log lines and outbound headers carry them, so its span
 * gets the same ids. It does not name the SDK's interface, because the two SDK packages declare it separately.
 */
export class IdSource {
  #next: SpanIds | undefined;

  /** Runs `start`, which starts one root span, with these ids. */
  using<T>(ids: SpanIds, start: () => T): T {
    this.#next = ids;
    try {
      return start();
    } finally {
      this.#next = undefined;
    }
  }

  generateTraceId(): string {
    return this.#next === undefined ? createTraceId() : this.#next.traceId;
  }

  generateSpanId(): string {
    return this.#next === undefined ? createSpanId() : this.#next.spanId;
  }
}

/**
 * Start and end times: the monotonic clock plus an anchor, which is the difference to the wall clock. All spans of a trace use the anchor
 * of its first span, so a child lies within its parent although the wall clock may be set meanwhile. The wall clock has whole
 * milliseconds; repeated readings narrow the anchor down to microseconds.
 */
export class WallTime {
  private latest = -Infinity;

  constructor(private readonly clock: Clock) {}

  /** The current anchor, in milliseconds: at most one millisecond too small, after some readings only microseconds. */
  anchor(): number {
    // The wall clock drops its fraction, so the true difference is `difference` plus less than 1. A larger change means that the clock was
    // set.
    const difference = this.clock.now() - this.clock.monotonic();
    if (difference > this.latest || difference < this.latest - 1) this.latest = difference;
    return this.latest;
  }

  /** The current time: seconds since the Unix epoch, and nanoseconds. */
  at(anchor: number): HrTime {
    const milliseconds = anchor + this.clock.monotonic();
    return [Math.floor(milliseconds / 1000), Math.floor((milliseconds % 1000) * 1e6)];
  }
}
