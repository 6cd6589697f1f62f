/** The production set on Express from its usual middleware, in the order of our stages. Also used below NestJS, which brings some of it itself. */
import compression from "compression";
import cors from "cors";
import express from "express";
import prometheusBundle from "express-prom-bundle";
import { rateLimit } from "express-rate-limit";
import helmet from "helmet";
import { pinoHttp } from "pino-http";
import { BODY_LIMIT, ORIGIN, QUOTA, TIMEOUT_MS } from "../../../../../dist/spec/tools/bench/fixtures.js";
import { helmetOptions } from "./helmet-options.mjs";
import { BUCKETS, echoedRequestId, log, nonce, problem, tracedProps } from "./observability.mjs";

function mint(_request, response, next) {
  response.nonce = nonce();
  next();
}

/** Before NestJS reads a body and its modules see the request, so that a refused body's response has an id as well; pino-http keeps it. */
function identify(request, response, next) {
  request.id = echoedRequestId(request, response);
  next();
}

function limitBody(request, _response, next) {
  const tooLarge = Number(request.headers["content-length"]) > BODY_LIMIT;
  next(tooLarge ? Object.assign(new Error("Payload Too Large"), { status: 413 }) : undefined);
}

function limitTime(_request, response, next) {
  const timer = setTimeout(() => {
    if (!response.headersSent) sendProblem(response, 408, "Request Timeout");
  }, TIMEOUT_MS);
  response.on("finish", () => clearTimeout(timer));
  next();
}

function sendProblem(response, status, title) {
  response
    .status(status)
    .type("application/problem+json")
    .send(JSON.stringify(problem(status, title)));
}

/** By method and status, as we count. */
const metrics = () => prometheusBundle({ includeMethod: true, includeUp: false, buckets: BUCKETS });

const compressed = () => compression({ threshold: 1024 });

export const production = () => [
  compressed(),
  mint,
  helmet(helmetOptions),
  cors({ origin: [ORIGIN] }),
  pinoHttp({ logger: log, genReqId: echoedRequestId, customProps: tracedProps }),
  metrics(),
  limitBody,
  limitTime,
  rateLimit({ windowMs: 60_000, limit: QUOTA, standardHeaders: "draft-6", legacyHeaders: false }),
  express.json({ limit: BODY_LIMIT }),
];

/** Without what NestJS and its modules do: CORS, the log, the rate limit, reading bodies. */
export const productionBelowNest = () => [
  compressed(),
  mint,
  helmet(helmetOptions),
  identify,
  metrics(),
  limitBody,
  limitTime,
];

export function notFound(_request, response) {
  sendProblem(response, 404, "Not Found");
}

/** Express knows an error handler by its four parameters. */
export function mapErrors(error, _request, response, _next) {
  sendProblem(response, error.status ?? 500, error.message);
}
