/** The production set on Fastify: its own plugins, hooks where there is none. Also used below NestJS. */
import compress from "@fastify/compress";
import cors from "@fastify/cors";
import helmet from "@fastify/helmet";
import rateLimit from "@fastify/rate-limit";
import { fastifyRequestContext as requestContext } from "@fastify/request-context";
import { BODY_LIMIT, ORIGIN, QUOTA, TIMEOUT_MS } from "../../../../dist/spec/bench/fixtures.js";
import { helmetOptions } from "./helmet-options.mjs";
import { accessLine, count, log, nonce, problem, requestId, traceContext } from "./observability.mjs";

const path = (url) => {
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
};

/** Fastify's own request logging writes two lines a request; one access line is what all others write. */
export const OBSERVED = {
  loggerInstance: log,
  disableRequestLogging: true,
  genReqId: (request) => requestId(request.headers["x-request-id"]),
};

/** Fastify's own request logging instead. */
export const OWN_LOG = { ...OBSERVED, disableRequestLogging: false };

export const PRODUCTION = { ...OBSERVED, bodyLimit: BODY_LIMIT, handlerTimeout: TIMEOUT_MS };

/** What lets a line from anywhere below a handler name its request, as the other contenders' lines do. */
export async function context(app) {
  await app.register(requestContext, { defaultStoreValues: ({ id }) => ({ requestId: id }) });
}

/** Request id, trace context, access line and metrics; the request's own child logger carries the id, so the line does not repeat it. */
export function observed(app, { line = true } = {}) {
  app.decorateRequest("trace", null);
  app.addHook("onRequest", (request, reply, done) => {
    request.trace = traceContext(request.headers.traceparent);
    reply.header("x-request-id", request.id);
    done();
  });
  app.addHook("onResponse", (request, { statusCode, elapsedTime }, done) => {
    const { method, url, ip, trace } = request;
    count(method, statusCode, elapsedTime);
    if (line)
      accessLine(request.log, { method, path: path(url), status: statusCode, milliseconds: elapsedTime, ip, trace });
    done();
  });
}

/** NestJS answers unknown paths itself. */
export async function production(app, { notFound = true } = {}) {
  app.addHook("onRequest", (_request, reply, done) => {
    reply.raw.nonce = nonce();
    done();
  });
  await app.register(compress, { global: true, threshold: 1024 });
  await app.register(helmet, helmetOptions);
  await app.register(cors, { origin: [ORIGIN] });
  await app.register(rateLimit, {
    global: true,
    max: QUOTA,
    timeWindow: 60_000,
    enableDraftSpec: true,
  });
  app.setErrorHandler((error, _request, reply) => {
    const status = error.statusCode ?? 500;
    reply
      .code(status)
      .type("application/problem+json")
      .send(JSON.stringify(problem(status, error.message)));
  });
  if (!notFound) return;
  app.setNotFoundHandler((_request, reply) => {
    reply
      .code(404)
      .type("application/problem+json")
      .send(JSON.stringify(problem(404, "Not Found")));
  });
}
