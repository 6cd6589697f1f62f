import { AssertionError } from "node:assert";
import { expect } from "chai";
import {
  Application,
  BadRequestError,
  Extension,
  Reply,
  Route,
  Routes,
  SecurityHeaders,
  type ApplicationBuilder,
  type Context,
} from "../../lib/entries/main.js";
import { tracing } from "../../lib/tracing/tracing.js";
import { Metrics } from "../../lib/observe/metrics/metrics.js";
import { expectNoLeak } from "../../lib/testing/expect-no-leak.js";
import { testApp } from "../../lib/testing/test-app.js";
import { rejectionOf } from "../support/rejection-of.js";
import { withObservability } from "../support/with-observability.js";

const CANARY = "canary4711secret";
const log = tracing.target("shop::leaks");

const Seen = new Extension<string>("Seen");
const reads = [
  Route.get("/links/{id}", (ctx: Context) => ctx.search()),
  Route.post("/links", async (ctx: Context) => ctx.json()),
  Route.put("/forms/{rest}", async (ctx: Context) => ctx.form()),
  Route.delete("/texts", async (ctx: Context) => ctx.text()),
  Route.any("/panics", (ctx: Context) => {
    Seen.set(ctx, ctx.get("cookie"));
    throw new Error("a panic");
  }),
];

const withEveryStage = (...routes: readonly Route[]): ApplicationBuilder =>
  withObservability(Application.create())
    .routes(new Routes(routes))
    .compression()
    .securityHeaders(new SecurityHeaders())
    .cors({ origins: ["https://shop.example"] });

describe("expectNoLeak", () => {
  it("finds no leak with every stage on", async () => {
    await using app = await testApp(withEveryStage(...reads));

    await expectNoLeak(app, CANARY);

    const paths = app.logs.lines().map((line) => (JSON.parse(line) as { fields?: { path?: string } }).fields?.path);
    expect(paths).to.include.members(["/links/1", "/links", "/forms/1", "/texts", "/panics", "/no-such-page-here"]);
  });

  it("finds no leak in a bare application", async () => {
    await using app = await testApp(Application.create().routes(new Routes(reads)));

    await expectNoLeak(app, CANARY);
  });

  const leaks: readonly (readonly [string, (ctx: Context) => unknown, RegExp])[] = [
    ["a message", (ctx) => log.info(`cookie ${ctx.get("cookie")}`), /a log line: .*cookie id=canary4711secret/],
    [
      "a field under a name that is not sensitive",
      (ctx) => log.debug("x", { note: ctx.get("x-api-key") }),
      /a log line: .*note/,
    ],
    ["a panic", (ctx) => expect.fail(ctx.get("authorization")), /a log line: .*error/],
    ["basic credentials", (ctx) => log.info(ctx.get("authorization").replace(/^Bearer.*/, "")), /a log line: .*Basic/],
    [
      "a field of a span, also under a name that the log redacts",
      (ctx) => log.span("work", { token: ctx.get("x-auth-token") }).run(() => ""),
      /a span: .*shop::leaks work token=canary/,
    ],
    [
      "a field of a span inside another",
      (ctx) => log.span("work", { deep: { note: ctx.get("x-auth-token") } }).run(() => ""),
      /a span: .*shop::leaks work deep=.*note.*canary/,
    ],
    [
      "a field of a span inside an object without prototype",
      (ctx) => {
        const note = Object.assign(Object.create(null) as object, { note: ctx.get("x-auth-token") });
        log.span("work", { note }).run(() => "");
      },
      /a span: .*shop::leaks work note=.*canary/,
    ],
    [
      "a later field of a span, inside a map",
      (ctx) => {
        const span = log.span("work");
        span.run(() => span.record({ seen: new Map([["note", ctx.get("x-auth-token")]]) }));
      },
      /a span: .*shop::leaks work seen=.*canary/,
    ],
    [
      "an error that ended a span",
      async (ctx) => {
        const fail = () => Promise.reject(new Error("failed", { cause: { note: ctx.get("x-auth-token") } }));
        await log
          .span("work")
          .run(fail)
          .catch(() => {});
      },
      /a span: .*shop::leaks work .*Error: failed: caused by .*canary/,
    ],
    [
      "an error's detail",
      (ctx) => {
        throw new BadRequestError(ctx.querystring);
      },
      /the body of POST \/leak \(400\)/,
    ],
    [
      "a header",
      (ctx) => Reply.empty(204).header("X-Echo", ctx.get("user-agent")),
      /a header of POST \/leak \(204\): .*x-echo/,
    ],
    ["a cookie", (ctx) => void ctx.cookies.set("echo", ctx.cookies.get("id")), /a header of POST \/leak/],
    [
      "a text of the request body",
      async (ctx) => {
        const text = await ctx.text();
        if (text.includes("nested")) log.warn(text);
      },
      /a log line: .*password/,
    ],
  ];
  for (const [name, handler, message] of leaks) {
    it(`finds ${name}`, async () => {
      await using app = await testApp(withEveryStage(Route.post("/leak", handler)));

      const error = await rejectionOf(expectNoLeak(app, CANARY));

      expect(error).to.be.instanceOf(AssertionError);
      expect(error.message).to.match(message);
    });
  }

  it("does not report a redacted value in the error of a span", async () => {
    const route = Route.post("/leak", (ctx: Context) => {
      const error = new Error("failed", { cause: { token: ctx.get("x-auth-token") } });
      return log
        .span("work")
        .run(() => Promise.reject(error))
        .catch(() => "failed");
    });
    await using app = await testApp(withEveryStage(route));

    await expectNoLeak(app, CANARY);
  });

  it("finds a label of the metrics", async () => {
    const metrics = new Metrics();
    const count = (ctx: Context) => metrics.increment("agents_total", { agent: ctx.get("user-agent") });
    await using app = await testApp(
      withEveryStage(
        Route.get("/leak", count),
        Route.get("/metrics", () => metrics.response()),
      ),
    );

    const error = await rejectionOf(expectNoLeak(app, CANARY));

    expect(error.message).to.match(/the body of GET \/metrics \(200\): .*agents_total/);
  });

  it("finds the canary of an earlier request of the test", async () => {
    await using app = await testApp(withEveryStage(Route.get("/login", (ctx) => log.info(ctx.querystring))));
    await app.get("/login?password=mysecretpassword");

    const error = await rejectionOf(expectNoLeak(app, "mysecretpassword"));

    expect(error.message).to.include("password=mysecretpassword");
  });

  it("fails if there is no text to search", async () => {
    await using app = await testApp(withEveryStage(...reads));
    await app.stop();

    expect((await rejectionOf(expectNoLeak(app, CANARY))).message).to.include("no request got a response");
  });

  for (const canary of ["", "short", "with space 123", "ümlaut1234"]) {
    it(`refuses ${JSON.stringify(canary)} as a canary`, async () => {
      await using app = await testApp(Application.create());

      expect(await rejectionOf(expectNoLeak(app, canary))).to.be.instanceOf(TypeError);
    });
  }
});
