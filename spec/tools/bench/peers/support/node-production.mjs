/**
 * The production set by hand on node:http: everything that the stages of `observe` and `full` do, written for this one server, with no
 * layer that could be left out.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { openSync, writeSync } from "node:fs";
import { createServer, STATUS_CODES } from "node:http";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import {
  BODY_LIMIT,
  CSP,
  LinkStore,
  ORIGIN,
  QUOTA,
  TIMEOUT_MS,
} from "../../../../../dist/spec/tools/bench/fixtures.js";
import { listening } from "./serve.mjs";

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const ID = /^[A-Za-z0-9\-_.:@+/=]{1,128}$/;
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const [CSP_BEFORE, CSP_AFTER] = CSP.split("{nonce}");

const store = new LinkStore();
const counts = new Map();
const durations = new Map();
const buckets = new Map();
let lines;

function record(method, status, milliseconds) {
  const key = `${method} ${status}`;
  counts.set(key, (counts.get(key) ?? 0) + 1);
  let series = durations.get(method);
  if (series === undefined) durations.set(method, (series = { counts: new Array(BUCKETS.length + 1).fill(0), sum: 0 }));
  const seconds = milliseconds / 1000;
  series.sum += seconds;
  const index = BUCKETS.findIndex((bound) => seconds <= bound);
  series.counts[index < 0 ? BUCKETS.length : index] += 1;
}

function accessLine(state, status) {
  const { method, path, started, id, ip, traceId, parentId } = state;
  const milliseconds = performance.now() - started;
  const whole = Math.trunc(milliseconds);
  record(method, status, milliseconds);
  const text = JSON.stringify(path);
  writeSync(
    lines,
    `{"fields":{"client_ip":"${ip}","duration_ms":${whole},"method":"${method}","parent_span_id":"${parentId}","path":${text},"request_id":"${id}","status":${status},"trace_id":"${traceId}"},"level":"INFO","message":${JSON.stringify(`${method} ${path} ${status} ${whole}ms`)},"target":"access","timestamp":"${new Date().toISOString()}"}\n`,
  );
}

function begin(request) {
  const { url, method, headers } = request;
  const inboundId = headers["x-request-id"];
  const inboundTrace = headers["traceparent"];
  const trace = inboundTrace === undefined ? null : TRACEPARENT.exec(inboundTrace);
  const query = url.indexOf("?");
  return {
    method,
    path: query < 0 ? url : url.slice(0, query),
    started: performance.now(),
    id: inboundId !== undefined && ID.test(inboundId) ? inboundId : randomUUID(),
    ip: request.socket.remoteAddress,
    traceId: trace === null ? randomBytes(16).toString("hex") : trace[1],
    parentId: trace === null ? randomBytes(8).toString("hex") : trace[2],
    timer: undefined,
    done: false,
  };
}

function route({ method, path }) {
  if (!path.startsWith("/links/") || path.length === 7 || path.includes("/", 7)) throw { status: 404 };
  if (method !== "GET") throw { status: 405 };
  return store.find(decodeURIComponent(path.slice(7)));
}

const problem = (status) => JSON.stringify({ type: "about:blank", title: STATUS_CODES[status], status });

/** What the handler's object, or what it threw, becomes: status, type and text. */
function decide(state) {
  try {
    return [200, "application/json", JSON.stringify(route(state))];
  } catch (error) {
    const status = error.status ?? 500;
    return [status, "application/problem+json", problem(status)];
  }
}

export function observe(on) {
  lines = openSync(process.env.BENCH_LOG, "a");
  const server = createServer((request, response) => {
    const state = begin(request);
    const [status, type, text] = decide(state);
    accessLine(state, status);
    response.writeHead(status, {
      "Content-Type": type,
      "Content-Length": Buffer.byteLength(text),
      "x-request-id": state.id,
    });
    response.end(text);
  });
  return listening(server, on);
}

/** Continuous refill; one token a request; full again after a minute. */
function takeToken(ip, now) {
  let bucket = buckets.get(ip);
  if (bucket === undefined) buckets.set(ip, (bucket = { tokens: QUOTA, at: now }));
  bucket.tokens = Math.min(QUOTA, bucket.tokens + ((now - bucket.at) * QUOTA) / 60_000);
  bucket.at = now;
  if (bucket.tokens < 1) return undefined;
  bucket.tokens -= 1;
  return bucket;
}

function compressed(request, headers, text) {
  headers["Vary"] = "Accept-Encoding, Origin";
  const accepted = request.headers["accept-encoding"];
  if (accepted === undefined || text.length < 1024) return text;
  if (accepted.includes("br")) {
    headers["Content-Encoding"] = "br";
    return brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
  }
  if (!accepted.includes("gzip")) return text;
  headers["Content-Encoding"] = "gzip";
  return gzipSync(text);
}

function respond(request, response, state, [status, type, text], bucket) {
  if (state.done) return;
  state.done = true;
  clearTimeout(state.timer);
  accessLine(state, status);
  const headers = {
    "Content-Type": type,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Content-Security-Policy": CSP_BEFORE + state.nonce + CSP_AFTER,
    "x-request-id": state.id,
  };
  if (request.headers.origin === ORIGIN) headers["Access-Control-Allow-Origin"] = ORIGIN;
  if (bucket !== undefined) {
    headers["RateLimit-Limit"] = QUOTA;
    headers["RateLimit-Remaining"] = Math.floor(bucket.tokens);
    headers["RateLimit-Reset"] = Math.ceil(((QUOTA - bucket.tokens) * 60) / QUOTA);
  }
  const body = compressed(request, headers, text);
  headers["Content-Length"] = Buffer.byteLength(body);
  response.writeHead(status, headers);
  response.end(body);
}

const refusal = (status) => [status, "application/problem+json", problem(status)];

function handle(request, response) {
  const state = begin(request);
  state.nonce = randomBytes(18).toString("base64");
  if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined) {
    response.writeHead(204, {
      "Access-Control-Allow-Origin": ORIGIN,
      "Access-Control-Allow-Methods": "GET,HEAD,POST",
      Vary: "Origin",
    });
    return response.end();
  }
  if (Number(request.headers["content-length"]) > BODY_LIMIT) return respond(request, response, state, refusal(413));
  state.timer = setTimeout(() => respond(request, response, state, refusal(408)), TIMEOUT_MS);
  const bucket = takeToken(state.ip, state.started);
  if (bucket === undefined) respond(request, response, state, refusal(429));
  else respond(request, response, state, decide(state), bucket);
}

export function full(on) {
  lines = openSync(process.env.BENCH_LOG, "a");
  return listening(createServer(handle), on);
}
