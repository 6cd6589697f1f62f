/**
 * The layer that turns each span of the facade into one of OpenTelemetry: name, fields as attributes, a failure as its status, the
 * facade's parent as its parent. Events stay in the log. Parents are handed over as values, so that nobody's context manager is asked.
 */
import type { Context, HrTime, Span, SpanKind, Tracer, TracerProvider } from "@opentelemetry/api";
import type { Fields, TracingLayer, Outcome, RemoteParent, SpanData } from "../tracing/tracing.js";
import { REQUEST } from "../observe/request-span.js";
import { setAttributes } from "./attributes.js";
import type { IdSource, SpanIds } from "./id-source.js";
import { api } from "./peers.js";
import { RawTraceState } from "./raw-trace-state.js";
import { bounded, failureText } from "./shown-text.js";
import type { WallTime } from "./wall-time.js";

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
    setAttributes(started, span.fields, span.name === REQUEST ? bounded : undefined);
    if (span.target === CLIENT_TARGET) this.#clients.set(span, started);
    return { span: started, anchor };
  }

  /** As in the log, what is recorded is recorded as it is now. */
  onRecord(_span: SpanData, fields: Fields, exported: Exported | undefined): void {
    if (exported?.span.isRecording() === true) setAttributes(exported.span, fields);
  }

  onClose({ target, fields }: SpanData, outcome: Outcome, exported: Exported | undefined): void {
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
    const name = bounded(span.name);
    if (ids === undefined) return tracer.startSpan(name, options, context);
    return this.#ids.using(ids, () => tracer.startSpan(name, options, context));
  }

  #tracerOf(target: string): Tracer {
    return this.#tracers.get(target) ?? this.#newTracer(target);
  }

  #newTracer(target: string): Tracer {
    if (this.#tracers.size >= MAX_SCOPES) return this.#provider.getTracer(SHARED_SCOPE);
    const tracer = this.#provider.getTracer(bounded(target));
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
