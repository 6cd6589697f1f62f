/** Fastify with the trace context as its official plugin for OpenTelemetry reads it: into a span in the asynchronous context of the request. */
import otel from "@fastify/otel";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { application, links } from "./support/fastify.mjs";
import { echoed } from "./support/fastify-hooks.mjs";
import { contextAndMetrics, OBSERVED } from "./support/fastify-observed.mjs";
import { serve } from "./support/serve.mjs";

/** One span a request, as we make it, and no further ones for each hook and the handler. */
const ONE_SPAN = { instrumentHooks: false, instrumentHandler: false };

async function observedWithSpans(app) {
  const provider = new NodeTracerProvider();
  provider.register();
  const instrumentation = new otel.FastifyOtelInstrumentation(ONE_SPAN);
  instrumentation.setTracerProvider(provider);
  await app.register(instrumentation.plugin());
  echoed(app);
  await contextAndMetrics(app);
}

await serve({ observe: (on) => application(on, links, OBSERVED, observedWithSpans) });
