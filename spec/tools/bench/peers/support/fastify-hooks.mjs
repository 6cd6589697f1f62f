/** What no plugin of Fastify's does: reading the trace context without spans, and taking, minting and sending back the request's id. */
import { requestId, traceContext, traceFields } from "./observability.mjs";

/** For the option of that name. */
export const genReqId = (request) => requestId(request.headers["x-request-id"]);

export function traced(app) {
  app.decorateRequest("trace", null);
  app.addHook("onRequest", (request, _reply, done) => {
    request.trace = traceContext(request.headers.traceparent);
    done();
  });
}

/** The same for an application that logs by Fastify's own request log: every line of the request names the trace. */
export function tracedInLog(app) {
  app.setChildLoggerFactory((logger, bindings, options, request) => {
    request.trace = traceContext(request.headers.traceparent);
    return logger.child({ ...bindings, ...traceFields(request.trace) }, options);
  });
}

export function echoed(app) {
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
}
