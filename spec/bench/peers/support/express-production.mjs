/** The production set on Express from its usual middleware, in the order of our stages. Also used below NestJS. */
import compression from "compression";
import cors from "cors";
import express from "express";
import { rateLimit } from "express-rate-limit";
import helmet from "helmet";
import { BODY_LIMIT, ORIGIN, QUOTA, TIMEOUT_MS } from "../../../../dist/spec/bench/fixtures.js";
import { helmetOptions } from "./helmet-options.mjs";
import { accessLine, count, log, nonce, problem, requestId, traceContext } from "./observability.mjs";

function mint(_request, response, next) {
  response.nonce = nonce();
  next();
}

function identify(request, response, next) {
  request.id = requestId(request.headers["x-request-id"]);
  request.trace = traceContext(request.headers.traceparent);
  response.setHeader("x-request-id", request.id);
  next();
}

function observe(request, response, next) {
  const started = performance.now();
  const { method, path, ip, id, trace } = request;
  response.on("finish", () => {
    const milliseconds = performance.now() - started;
    count(method, response.statusCode, milliseconds);
    accessLine(log, { method, path, status: response.statusCode, milliseconds, id, ip, trace });
  });
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

export const production = () => [
  compression({ threshold: 1024 }),
  mint,
  helmet(helmetOptions),
  cors({ origin: [ORIGIN] }),
  identify,
  observe,
  limitBody,
  limitTime,
  rateLimit({ windowMs: 60_000, limit: QUOTA, standardHeaders: "draft-6", legacyHeaders: false }),
  express.json({ limit: BODY_LIMIT }),
];

export function notFound(_request, response) {
  sendProblem(response, 404, "Not Found");
}

/** Express knows an error handler by its four parameters. */
export function mapErrors(error, _request, response, _next) {
  sendProblem(response, error.status ?? 500, error.message);
}
