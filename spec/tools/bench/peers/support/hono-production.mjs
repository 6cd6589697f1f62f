/** The production set on Hono: its own middleware, small functions where there is none. */
import { getConnInfo } from "@hono/node-server/conninfo";
import { bodyLimit } from "hono/body-limit";
import { compress } from "hono/compress";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";
import { NONCE, secureHeaders } from "hono/secure-headers";
import { timeout } from "hono/timeout";
import { rateLimiter } from "hono-rate-limiter";
import { BODY_LIMIT, ORIGIN, QUOTA, TIMEOUT_MS } from "../../../../../dist/spec/tools/bench/fixtures.js";
import { count } from "./counters.mjs";
import { accessLine, log, problem, requestId, traceContext } from "./observability.mjs";

const off = false;

/** The headers that our stage sets and no others; Hono mints the nonce itself. */
const security = secureHeaders({
  contentSecurityPolicy: { defaultSrc: ["'self'"], scriptSrc: ["'self'", NONCE] },
  xContentTypeOptions: true,
  xFrameOptions: "DENY",
  referrerPolicy: "strict-origin-when-cross-origin",
  crossOriginEmbedderPolicy: off,
  crossOriginOpenerPolicy: off,
  crossOriginResourcePolicy: off,
  originAgentCluster: off,
  strictTransportSecurity: off,
  xDnsPrefetchControl: off,
  xDownloadOptions: off,
  xPermittedCrossDomainPolicies: off,
  xXssProtection: off,
  removePoweredBy: off,
});

const ip = (c) => getConnInfo(c).remote.address;

async function identify(c, next) {
  c.set("id", requestId(c.req.header("x-request-id")));
  c.set("trace", traceContext(c.req.header("traceparent")));
  await next();
  c.header("x-request-id", c.get("id"));
}

async function observe(c, next) {
  const started = performance.now();
  await next();
  const milliseconds = performance.now() - started;
  const { method, path } = c.req;
  count(method, c.res.status, milliseconds);
  accessLine(log, {
    method,
    path,
    status: c.res.status,
    milliseconds,
    id: c.get("id"),
    ip: ip(c),
    trace: c.get("trace"),
  });
}

const problemResponse = (c, status, title) =>
  c.body(JSON.stringify(problem(status, title)), status, { "content-type": "application/problem+json" });

export function production(app) {
  app.use(compress({ threshold: 1024 }));
  app.use(security);
  app.use(cors({ origin: [ORIGIN] }));
  app.use(identify);
  app.use(observe);
  app.use(bodyLimit({ maxSize: BODY_LIMIT, onError: (c) => problemResponse(c, 413, "Payload Too Large") }));
  app.use(timeout(TIMEOUT_MS));
  app.use(rateLimiter({ windowMs: 60_000, limit: QUOTA, standardHeaders: "draft-6", keyGenerator: ip }));
  app.onError((error, c) =>
    error instanceof HTTPException
      ? problemResponse(c, error.status, error.message)
      : problemResponse(c, 500, "Internal Server Error"),
  );
  app.notFound((c) => problemResponse(c, 404, "Not Found"));
}
