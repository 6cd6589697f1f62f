/**
 * Observability on Fastify as its users assemble it: its own request log, fastify-metrics and
 * @fastify/request-context. No plugin only reads the trace context: the factory of
 * the request's logger does.
 */
import { fastifyRequestContext as requestContext } from "@fastify/request-context";
import metrics from "fastify-metrics";
import prometheus from "prom-client";
import { echoed, genReqId, tracedInLog } from "./fastify-hooks.mjs";
import { BUCKETS, log } from "./observability.mjs";

export const OBSERVED = { loggerInstance: log, genReqId };

export async function observed(app) {
  tracedInLog(app);
  echoed(app);
  await contextAndMetrics(app);
}

export async function contextAndMetrics(app) {
  await app.register(requestContext, { defaultStoreValues: ({ id }) => ({ requestId: id }) });
  await requestMetrics(app);
}

/** One histogram a route, and nothing about the process: what the others count. */
export async function requestMetrics(app) {
  await app.register(metrics, {
    endpoint: "/metrics",
    promClient: prometheus,
    defaultMetrics: { enabled: false },
    routeMetrics: { enabled: { histogram: true, summary: false }, overrides: { histogram: { buckets: BUCKETS } } },
  });
}
