/** The production set on Koa from its usual middleware, in the order of our stages. */
import cors from "@koa/cors";
import { bodyParser } from "@koa/bodyparser";
import compress from "koa-compress";
import helmet from "koa-helmet";
import pinoLogger from "koa-pino-logger";
import rateLimit from "koa-ratelimit";
import { BODY_LIMIT, ORIGIN, QUOTA, TIMEOUT_MS } from "../../../../../dist/spec/tools/bench/fixtures.js";
import { count } from "./counters.mjs";
import { helmetOptions } from "./helmet-options.mjs";
import { echoedRequestId, log, nonce, problem, tracedProps } from "./observability.mjs";

async function mint(ctx, next) {
  ctx.res.nonce = nonce();
  return next();
}

/** prom-client has no middleware for Koa that is as well maintained as itself. */
async function measure(ctx, next) {
  const started = performance.now();
  await next();
  count(ctx.method, ctx.status, performance.now() - started);
}

async function mapErrors(ctx, next) {
  try {
    await next();
    if (ctx.status === 404 && ctx.body == null) ctx.throw(404);
  } catch (error) {
    ctx.status = error.status ?? 500;
    ctx.body = problem(ctx.status, error.expose ? error.message : "Internal Server Error");
    ctx.type = "application/problem+json";
  }
}

async function limitBody(ctx, next) {
  if (Number(ctx.get("content-length")) > BODY_LIMIT) ctx.throw(413);
  return next();
}

async function limitTime(ctx, next) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(Object.assign(new Error("Request Timeout"), { status: 408, expose: true })),
      TIMEOUT_MS,
    );
  });
  try {
    await Promise.race([next(), late]);
  } finally {
    clearTimeout(timer);
  }
}

export const production = () => [
  compress({ threshold: 1024 }),
  mint,
  helmet(helmetOptions),
  cors({ origin: ({ headers }) => (headers.origin === ORIGIN ? ORIGIN : ""), keepHeadersOnError: true }),
  pinoLogger({ logger: log, genReqId: echoedRequestId, customProps: tracedProps }),
  measure,
  mapErrors,
  limitBody,
  limitTime,
  rateLimit({
    driver: "memory",
    db: new Map(),
    duration: 60_000,
    max: QUOTA,
    id: (ctx) => ctx.ip,
    headers: { total: "RateLimit-Limit", remaining: "RateLimit-Remaining", reset: "RateLimit-Reset" },
  }),
  bodyParser({ enableTypes: ["json"], jsonLimit: BODY_LIMIT }),
];
