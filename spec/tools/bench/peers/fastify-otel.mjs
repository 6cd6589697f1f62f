/**
 * Fastify with the trace context as its official plugin for OpenTelemetry reads it: into a span in the asynchronous context of the request,
 * whose ids pino takes up by its mixin. No processor: nothing is exported.
 */
import otel from "@fastify/otel";
import { trace } from "@opentelemetry/api";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { application, links } from "./support/fastify.mjs";
import { echoed, genReqId } from "./support/fastify-hooks.mjs";
import { contextAndMetrics } from "./support/fastify-observed.mjs";
import { logWith } from "./support/observability.mjs";
import { serve } from "./support/serve.mjs";

/** As it comes, the plugin makes a span for every hook and the handler as well; this is one a request, as ours. */
const ONE_SPAN = { instrumentHooks: false, instrumentHandler: false };

function mixin() {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

function spans(options) {
  const provider = new NodeTracerProvider();
  provider.register();
  const instrumentation = new otel.FastifyOtelInstrumentation(options);
  instrumentation.setTracerProvider(provider);
  return instrumentation.plugin();
}

function observed(on, options) {
  return application(on, links, { loggerInstance: logWith({ mixin }), genReqId }, async (app) => {
    await app.register(spans(options));
    echoed(app);
    await contextAndMetrics(app);
  });
}

await serve({
  observe: (on) => observed(on, {}),
  "observe-one-span": (on) => observed(on, ONE_SPAN),
});
