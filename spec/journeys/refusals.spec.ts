/**
 * Every refusal and every error with all stages on: the client gets the same headers, the log one line, the metrics one count, whichever
 * stage refuses.
 */
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  BadRequestError,
  Clock,
  ErrorMapping,
  ForbiddenError,
  Maintenance,
  provide,
  RateLimit,
  Route,
  Routes,
  SecurityHeaders,
  UnauthorizedError,
  type Context,
} from "../../lib/entries/main.js";
import { HTTP_REQUESTS_TOTAL, Metrics } from "../../lib/observe/metrics/metrics.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import type { AnyRequestOptions } from "../../lib/testing/test-client.js";
import { ScriptedCache } from "../support/scripted-cache.js";

const ORIGIN = "https://shop.example";
const LIMIT_MS = 5000;
const BYTES = 1000;

function refuse(make: () => Error): () => never {
  return () => {
    throw make();
  };
}

const routes = new Routes([
  Route.get("/fine", () => "fine"),
  Route.get(
    "/bad",
    refuse(() => new BadRequestError("no")),
  ),
  Route.get(
    "/stranger",
    refuse(() => new UnauthorizedError("who?", { challenge: "Bearer" })),
  ),
  Route.get(
    "/forbidden",
    refuse(() => new ForbiddenError("not you")),
  ),
  Route.get(
    "/panic",
    refuse(() => new TypeError("a secret of the inside")),
  ),
  Route.get("/slow", () => new Promise(() => {})),
  Route.post("/links", async (ctx: Context) => ctx.json(z.object({ name: z.string() }))),
]);

/** All stages that respond, count or add headers, in any order. */
class Rig {
  readonly clock = new FakeClock();
  readonly maintenance = new Maintenance();
  readonly metrics = new Metrics();

  constructor(
    private readonly quota = RateLimit.perHour(1).by((ctx) => ctx.get("x-client") || String(Math.random())),
  ) {}

  start(): Promise<TestApp> {
    const builder = Application.create()
      .routes(routes)
      .rateLimit(this.quota)
      .maintenance(this.maintenance)
      .timeout(LIMIT_MS)
      .bodyLimit(BYTES)
      .errorMapping(new ErrorMapping())
      .catchPanic()
      .metrics(this.metrics)
      .accessLog()
      .traceContext()
      .requestId()
      .cors({ origins: [ORIGIN], exposeHeaders: ["x-request-id"] })
      .securityHeaders(new SecurityHeaders().withHsts().withCspNonce("script-src 'nonce-{nonce}'"))
      .compression();
    return testApp(builder, provide(Clock).useValue(this.clock));
  }
}

interface Refusal extends Omit<AnyRequestOptions, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly path: string;
  readonly type: string;
  readonly before?: (rig: Rig, app: TestApp) => unknown;
  readonly during?: (rig: Rig, app: TestApp) => unknown;
  readonly carries?: Readonly<Record<string, string>>;
  readonly quota?: RateLimit;
  readonly detail?: string;
}

const oversized = "x".repeat(BYTES + 1);

const refusals: readonly Refusal[] = [
  { status: 400, path: "/bad", type: "bad-request" },
  { status: 400, path: "/%zz", type: "bad-request" },
  { status: 401, path: "/stranger", type: "authentication", carries: { "www-authenticate": "Bearer" } },
  { status: 403, path: "/forbidden", type: "authorization" },
  { status: 404, path: "/nowhere", type: "not-found" },
  { status: 405, path: "/fine", method: "PUT", type: "method-not-allowed", carries: { allow: "GET, HEAD, OPTIONS" } },
  { status: 408, path: "/slow", type: "timeout", during: runOutOfTime },
  { status: 413, path: "/links", method: "POST", body: oversized, type: "payload-too-large" },
  { status: 415, path: "/links", method: "POST", body: "a", type: "unsupported-media-type" },
  { status: 422, path: "/links", method: "POST", json: { name: 7 }, type: "validation" },
  {
    status: 429,
    path: "/fine",
    headers: { "x-client": "greedy" },
    type: "rate-limit",
    before: (_rig, app) => app.get("/fine", { headers: { "x-client": "greedy" } }),
    carries: { "retry-after": "3600", "ratelimit-limit": "1", "ratelimit-remaining": "0", "ratelimit-reset": "3600" },
  },
  { status: 500, path: "/panic", type: "internal" },
  {
    status: 503,
    path: "/fine",
    type: "unavailable",
    detail: "The application is down for maintenance. Please try again shortly.",
    before: ({ maintenance }) => maintenance.engage(),
    carries: { "retry-after": "60" },
  },
  {
    status: 503,
    path: "/fine",
    type: "unavailable",
    quota: RateLimit.perHour(1).redis(new ScriptedCache(() => Promise.reject(new Error("a secret of the inside")))),
    detail: "The rate limiter is unavailable. Please try again shortly.",
  },
];

async function runOutOfTime({ clock }: Rig): Promise<void> {
  // The wait begins only when the request has reached the handler.
  while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(LIMIT_MS);
}

interface AccessLine {
  readonly target: string;
  readonly fields: {
    readonly method: string;
    readonly path: string;
    readonly status: number;
    readonly request_id: string;
  };
}

function accessLines(app: TestApp): AccessLine["fields"][] {
  // The log's lines are JSON objects with these members.
  const lines = app.logs.lines().map((line) => JSON.parse(line) as AccessLine);
  return lines.filter(({ target }) => target === "framework::observe::access_log").map(({ fields }) => fields);
}

describe("a refusal", () => {
  for (const { status, path, type, before, during, quota, detail, carries = {}, ...request } of refusals) {
    const method = request.method ?? "GET";
    const about = detail === undefined ? "" : `: ${detail}`;
    it(`${status} of ${method} ${path} has all headers, one line and one count${about}`, async () => {
      const rig = new Rig(quota);
      await using app = await rig.start();
      await before?.(rig, app);
      const linesBefore = accessLines(app).length;

      const asking = app.request(path, { ...request, headers: { origin: ORIGIN, ...request.headers } });
      await during?.(rig, app);
      const response = await asking;
      const body: unknown = await response.json();

      expect(response.status).to.equal(status);
      expect(Object.fromEntries(response.headers)).to.include({
        "content-type": "application/problem+json",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "strict-origin-when-cross-origin",
        "strict-transport-security": "max-age=31536000; includeSubDomains",
        "access-control-allow-origin": ORIGIN,
        "access-control-expose-headers": "x-request-id",
        ...carries,
      });
      expect(response.headers.get("content-security-policy")).to.match(/^script-src 'nonce-[\w+/]{24}'$/);
      expect(body).to.include({ type: `urn:framework:problem:${type}`, status });
      if (detail !== undefined) expect(body).to.include({ detail });
      expect(JSON.stringify(body)).not.to.contain("secret of the inside");

      const [line, ...others] = accessLines(app).slice(linesBefore);
      expect(others).to.deep.equal([]);
      expect(line).to.include({ method, path, status, request_id: response.headers.get("x-request-id") });
      expect(rig.metrics.counterValue(HTTP_REQUESTS_TOTAL, { method, status: String(status) })).to.equal(1);
    });
  }

  it("serves an allowed path and the health endpoints during maintenance", async () => {
    const rig = new Rig();
    await using app = await rig.start();
    rig.maintenance.allow("/fine").engage();

    const seen = [await app.get("/fine"), await app.get("/up/live"), await app.get("/up/ready"), await app.get("/bad")];

    expect(seen.map(({ status }) => status)).to.deep.equal([200, 200, 200, 503]);
  });

  it("is switched by the injected handle, which is that of the builder", async () => {
    const rig = new Rig();
    await using app = await rig.start();

    expect(app.resolve(Maintenance)).to.equal(rig.maintenance);
  });
});
