/** Observability on Fastify with as little as will do: one hook writes the line and counts, and nothing carries the request along. */
import { LogController } from "fastify";
import { count } from "./counters.mjs";
import { echoed, genReqId, traced } from "./fastify-hooks.mjs";
import { accessLine, log, nonce } from "./observability.mjs";

/** Fastify's own request logging writes two lines a request; here it is off. */
export const OBSERVED_BY_HAND = {
  loggerInstance: log,
  logController: new LogController({ disableRequestLogging: true }),
  genReqId,
};

const path = (url) => {
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
};

/** The request's own child logger carries its id, so the line does not repeat it. */
export function observedByHand(app) {
  traced(app);
  echoed(app);
  app.addHook("onResponse", (request, { statusCode, elapsedTime }, done) => {
    const { method, url, ip, trace } = request;
    count(method, statusCode, elapsedTime);
    accessLine(request.log, { method, path: path(url), status: statusCode, milliseconds: elapsedTime, ip, trace });
    done();
  });
}

/** The nonce that support/helmet-options.mjs reads. */
export function minted(app) {
  app.addHook("onRequest", (_request, reply, done) => {
    reply.raw.nonce = nonce();
    done();
  });
}
