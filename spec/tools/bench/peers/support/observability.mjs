/**
 * What the peers share: pino to a file, one synchronous write a line as everywhere; request ids and trace context read as our own stages
 * read them.
 */
import { randomBytes, randomUUID } from "node:crypto";
import pino from "pino";

const destination = pino.destination({ dest: process.env.BENCH_LOG, sync: true });

export const logWith = (options) =>
  pino({ base: null, messageKey: "message", timestamp: pino.stdTimeFunctions.isoTime, ...options }, destination);

export const log = logWith({});

/** The bounds of our own histogram, in seconds. */
export const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** One access line by hand; `logger` may be a child that already carries the request's id. */
export function accessLine(logger, { method, path, status, milliseconds, id, ip, trace }) {
  const duration = Math.trunc(milliseconds);
  logger.info(
    {
      method,
      path,
      status,
      duration_ms: duration,
      request_id: id,
      client_ip: ip,
      ...traceFields(trace),
    },
    `${method} ${path} ${status} ${duration}ms`,
  );
}

const ID = /^[A-Za-z0-9\-_.:@+/=]{1,128}$/;

export function requestId(inbound) {
  return inbound !== undefined && ID.test(inbound) ? inbound : randomUUID();
}

/** Reads or mints the request's id and echoes it: what pino-http's own example does in `genReqId`. */
export function echoedRequestId(request, response) {
  const id = requestId(request.headers["x-request-id"]);
  response.setHeader("x-request-id", id);
  return id;
}

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

export function traceContext(inbound) {
  const [, traceId, parentId, flags] = (inbound && TRACEPARENT.exec(inbound)) || [];
  if (traceId !== undefined) return { traceId, parentId, flags, continued: true };
  return {
    traceId: randomBytes(16).toString("hex"),
    parentId: randomBytes(8).toString("hex"),
    flags: "01",
    continued: false,
  };
}

/** What every line says of the trace. */
export const traceFields = ({ traceId, parentId }) => ({ trace_id: traceId, parent_span_id: parentId });

/** For the option `customProps` of pino-http and what is built on it: reads the trace context, which nothing else of it does. */
export const tracedProps = (request) => traceFields((request.trace ??= traceContext(request.headers.traceparent)));

export const nonce = () => randomBytes(18).toString("base64");

export const problem = (status, title) => ({ type: "about:blank", title, status });
