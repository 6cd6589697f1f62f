/** The event of a request that fails or is refused, beside its access line: level, target and fields. */
import { expect } from "chai";
import {
  Application,
  ConflictError,
  Maintenance,
  RateLimit,
  Route,
  Routes,
  UnavailableError,
  ValidationError,
  type ApplicationBuilder,
  type Context,
} from "../../lib/entries/main.js";
import { expectLogLine, type LogLine } from "../../lib/testing/expect-log-line.js";
import { testApp } from "../../lib/testing/test-app.js";

const faults = { "": [{ code: "unknown" }], target: [{ code: "url", message: "Invalid URL" }, { code: "short" }] };
const manyFaults = Object.fromEntries(
  Array.from({ length: 50 }, (_, index) => [`field${index}`, [{ code: "x".repeat(40 + index) }]]),
);

const routes = new Routes([
  Route.get("/taken", () => Promise.reject(new ConflictError("the slug is taken"))),
  Route.get("/invalid", () => Promise.reject(new ValidationError(faults))),
  Route.get("/many", () => Promise.reject(new ValidationError(manyFaults))),
  // A caller without a compiler may pass any value.
  Route.get("/junk", () => Promise.reject(new ValidationError({ "": 7 as unknown as [] }))),
  Route.get("/gone", (ctx: Context) => ctx.throw(410, "no longer here")),
  Route.get("/down", () => Promise.reject(new UnavailableError("not now", { cause: new Error("upstream") }))),
  Route.get("/panic", () => Promise.reject(new TypeError("boom"))),
  // oxlint-disable-next-line prefer-promise-reject-errors -- hostile on purpose
  Route.get("/nothing", () => Promise.reject(undefined)),
  Route.get("/slow", () => new Promise(() => {})),
  Route.get("/fine", () => "fine"),
]);

const plain: Adorn = (builder) => builder;

type Adorn = (builder: ApplicationBuilder) => ApplicationBuilder;

interface FailureEvent {
  readonly level: string;
  readonly target: string;
  readonly message: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

function refused(target: string, message: string, fields: FailureEvent["fields"]): FailureEvent {
  return { level: "DEBUG", target: `framework::http::${target}`, message, fields };
}

function failed(target: string, message: string, fields: FailureEvent["fields"]): FailureEvent {
  return { level: "ERROR", target: `framework::http::${target}`, message, fields };
}

const down = { code: "E_UNAVAILABLE", status: 503, error: "UnavailableError: not now: caused by Error: upstream" };

function invalid(route: string, reason: string): FailureEvent {
  const fields = { code: "E_VALIDATION", status: 422, route, reason };
  return { level: "INFO", target: "framework::http::error", message: "request refused", fields };
}

function slow(fields: FailureEvent["fields"]): FailureEvent {
  const route = "GET /slow";
  return {
    level: "INFO",
    target: "framework::http::timeout",
    message: "request timed out",
    fields: { route, ...fields },
  };
}

const manyReasons = Object.entries(manyFaults).map(([name, [fault]]) => `${name}: ${String(fault?.code)}`);

const rows: readonly (readonly [what: string, Adorn, path: string, expected: FailureEvent | undefined])[] = [
  [
    "an error with a status",
    plain,
    "/taken",
    refused("error", "request refused", { code: "E_CONFLICT", status: 409, route: "GET /taken" }),
  ],
  ["what does not fit", plain, "/invalid", invalid("GET /invalid", "body: unknown; target: Invalid URL, short")],
  ["a bounded part of what does not fit", plain, "/many", invalid("GET /many", manyReasons.join("; ").slice(0, 500))],
  ["faults that cannot be read", plain, "/junk", invalid("GET /junk", "[unreadable]")],
  [
    "an error of ctx.throw",
    plain,
    "/gone",
    refused("error", "request refused", { code: "E_HTTP", status: 410, route: "GET /gone" }),
  ],
  [
    "a failure of the server",
    plain,
    "/down",
    failed("error", "not now", { ...down, route: "GET /down", stack: "UnavailableError" }),
  ],
  [
    "a panic",
    plain,
    "/panic",
    failed("catch_panic", "panic", { route: "GET /panic", error: "TypeError: boom", stack: "TypeError" }),
  ],
  ["a panic of nothing", plain, "/nothing", failed("catch_panic", "panic", { route: "GET /nothing" })],
  ["a missed deadline", (b) => b.timeout(5), "/slow", slow({ status: 408, limit_ms: 5 })],
  [
    "a missed deadline with the status 503",
    (b) => b.timeout(5, { status: 503 }),
    "/slow",
    slow({ status: 503, limit_ms: 5 }),
  ],
  [
    "a body that is too large",
    (b) => b.bodyLimit(1),
    "/fine",
    refused("body_limit", "request refused", { status: 413 }),
  ],
  ["maintenance", (b) => b.maintenance(Maintenance.engaged()), "/fine", refused("maintenance", "refused for maintenance", { status: 503 })], // prettier-ignore
  ["a quota used up", (b) => b.rateLimit(RateLimit.perHour(0)), "/fine", refused("rate_limit", "request refused", { status: 429 })], // prettier-ignore
  ["a path without a route", plain, "/nowhere", undefined],
  ["a response", plain, "/fine", undefined],
];

const REQUEST = ["client_ip", "method", "path", "request_id"];

function isOfRequest({ target }: LogLine): boolean {
  return target.startsWith("framework::http::");
}

/** Without the fields of the request, and with only the first name of a stack. */
function ownOf(fields: FailureEvent["fields"]): FailureEvent["fields"] {
  const own = Object.entries(fields).filter(([name]) => !REQUEST.includes(name));
  return Object.fromEntries(own.map(([name, value]) => [name, name === "stack" ? String(value).split(":")[0] : value]));
}

describe("the event of", () => {
  for (const [what, adorn, path, expected] of rows) {
    it(`${what} is ${expected === undefined ? "nothing" : `${expected.level} ${expected.message}`}`, async () => {
      await using app = await testApp(adorn(Application.create().routes(routes).requestId().accessLog().catchPanic()));

      await app.request(path, path === "/fine" ? { method: "POST", body: "too long" } : { method: "GET" });

      const lines = app.logs.lines().map(expectLogLine).filter(isOfRequest);
      expect(lines).to.have.length(expected === undefined ? 0 : 1);
      for (const { level, target, message, fields = {} } of lines) {
        expect({ level, target, message, fields: ownOf(fields) }).to.deep.equal(expected);
        expect(fields).to.include.keys(REQUEST);
      }
    });
  }
});
