/**
 * Stage layer: continues the trace of the caller, or starts a new one, and opens a span `framework.request` with its ids. The response does
 * not change. It follows W3C Trace Context: a repeated `traceparent` is invalid, and repeated `tracestate` headers form one list.
 *
 * @example
 * await fetch(url, { headers: TraceContext.of(ctx)?.outboundHeaders() ?? {} });
 */
import type { Context } from "../http/request/context.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { ensureFlow, type Flow } from "../tracing/flow.js";
import type { RemoteParent } from "../tracing/subscriber.js";
import { Observation } from "../observe/request-observation.js";
import { endRequestSpan, openRequestSpan } from "../observe/request-span.js";
import { TraceContext } from "../observe/trace-context.js";

const TARGET = "framework::observe::trace_context";

export class TraceContextLayer extends StageLayer {
  override wrap(inner: Run): Run {
    const traced = (ctx: Context, flow: Flow | undefined): void | Promise<void> =>
      new TracedRequest(ctx, flow).watch(inner);
    return (ctx) => ensureFlow(traced, ctx);
  }
}

class TracedRequest extends Observation {
  private readonly span;

  constructor(ctx: Context, flow: Flow | undefined) {
    super(ctx);
    const trace = TraceContext.fromRequest(ctx.incoming);
    TraceContext.set(ctx, trace);
    const { traceId: trace_id, parentSpanId: parent_span_id, continued: continued_trace } = trace;
    const fields = { trace_id, parent_span_id, continued_trace };
    this.span = openRequestSpan(ctx, flow, TARGET, fields, findRemoteParent(trace));
  }

  protected override record(status: number, failure: { readonly error: unknown } | undefined): void {
    endRequestSpan(this.span, status, failure);
  }
}

function findRemoteParent({
  continued,
  traceId,
  parentSpanId,
  flags,
  tracestate,
}: TraceContext): RemoteParent | undefined {
  if (!continued) return undefined;
  return { traceId, spanId: parentSpanId, traceFlags: flags, traceState: tracestate };
}
