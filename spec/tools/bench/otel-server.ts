/**
 * Run by otel.ts: one server, three ways, each with a subscriber and the trace context on. Without any export; with the layer of a
 * `Telemetry`; and with the SDK called by hand, the way its documents show it: same parent, same attributes, same batches, same queue.
 * Spans go to the collector in `BENCH_COLLECTOR`.
 */

import { ROOT_CONTEXT, SpanKind, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { Application, Route, Routes } from "@stagecraft/framework";
import { TraceContext } from "@stagecraft/framework/observe";
import { Telemetry } from "@stagecraft/framework/observe/otel";
import { tracing } from "@stagecraft/framework/observe/tracing";
import type { Context } from "../../../lib/http/request/context.js";
import { Layer, type Run } from "../../../lib/http/middleware.js";
import { installSubscriber } from "../../../lib/tracing/flow.js";
import { BATCH_DELAY_MS, MAX_BATCH_SPANS, MAX_WAITING_SPANS } from "../../../lib/observe/otel/span-queue.js";
import { freePort } from "../../support/free-port.js";

const endpoint = process.env["BENCH_COLLECTOR"] ?? "";
const hello = new Routes([Route.get("/", () => "hello")]);
const builder = Application.create().routes(hello).traceContext();

/** The SDK as in its documentation: start with attributes, do the work, end. */
class ByHand extends Layer {
  private readonly tracer = new TracerProvider({
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: endpoint }),
        maxQueueSize: MAX_WAITING_SPANS,
        maxExportBatchSize: MAX_BATCH_SPANS,
        scheduledDelayMillis: BATCH_DELAY_MS,
      }),
    ],
  }).getTracer("bench");

  override wrap(inner: Run): Run {
    return (ctx) => {
      const span = this.start(ctx);
      const result = inner(ctx);
      if (result === undefined) return span.end();
      return result.finally(() => span.end());
    };
  }

  private start(ctx: Context) {
    const context = TraceContext.of(ctx);
    if (context === undefined) throw new Error("the trace context is on");
    const { traceId, parentSpanId: spanId, flags: traceFlags, continued } = context;
    const parent = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
    const attributes = { trace_id: traceId, parent_span_id: spanId, continued_trace: continued };
    return this.tracer.startSpan("framework.request", { kind: SpanKind.SERVER, attributes }, parent);
  }
}

const variant = process.argv[2];
if (variant === "by hand") builder.layer(new ByHand());
const registry = tracing.registry();
const telemetry = Telemetry.builder("bench").endpoint(endpoint).build();
installSubscriber(variant === "telemetry" ? registry.with(telemetry.tracingLayer()) : registry);
const { address } = await builder
  .port(await freePort())
  .build()
  .start();
console.log(`ready ${typeof address === "object" ? (address?.port ?? 0) : 0}`);
