/** An application sends every error in its own format: the mapper gets the error of each stage that refuses, and each thrown value. */
import {
  Application,
  BadRequestError,
  ErrorMapping,
  FrameworkError,
  Maintenance,
  MethodNotAllowedError,
  NotFoundError,
  PayloadTooLargeError,
  RateLimit,
  redirect,
  Reply,
  RequestTimeoutError,
  Route,
  Routes,
  TooManyRequestsError,
  UnavailableError,
  ValidationError,
  type ApplicationBuilder,
  type Context,
  type ErrorMapper,
} from "@stagecraft/framework";
import { expectLogLine, expectProblem, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { HttpError } from "koa";

class OutOfStock extends FrameworkError {
  constructor() {
    super("sold out", { code: "SHOP_OUT_OF_STOCK", status: 409, headers: { "Retry-After": "9" } });
  }
}

const fault = new TypeError("a secret of the inside");

/** A value that only a caller without types can give. */
function untyped(value: unknown): never {
  return value as never;
}

function raise(error: unknown): never {
  throw error;
}

const routes = () =>
  new Routes([
    Route.get("/fine", () => "fine"),
    Route.get("/own", () => raise(new OutOfStock())),
    Route.get("/invalid", () => raise(new ValidationError({ name: [{ code: "required" }] }))),
    Route.get("/unavailable", () => raise(new UnavailableError("db-7.internal is down"))),
    Route.get("/thrown", (ctx) => ctx.throw(502, "db-7.internal is down", { expose: true })),
    Route.get("/koa", (ctx) => ctx.throw(402, "pay first")),
    Route.get("/asserted", (ctx) => ctx.assert(false, 402, "pay first")),
    Route.get("/panic", () => raise(fault)),
    Route.get("/null", () => raise(null)),
    Route.get("/status", (ctx) => void (ctx.status = 418)),
    Route.get("/slow", () => new Promise(() => {})),
    Route.post("/upload", (ctx) => ctx.text()),
    Route.get("/redirect", () => redirect().route("nowhere")),
    Route.get("/returned", () => Reply.json({ mine: true }, 404)),
    Route.get("/closed", () => "never").middleware(new Closed()),
    Route.get("/limited", () => "once").middleware(RateLimit.perHour(0)),
  ]);

class Closed {
  handle(): Reply {
    return Reply.empty(503);
  }
}

function pageForBrowsers(_error: unknown, ctx: Context): Reply | undefined {
  return ctx.accepts("json", "html") === "html" ? Reply.html("<h1>Sorry</h1>") : undefined;
}

interface Asked {
  readonly error: unknown;
  readonly status: number;
}

async function startedWith(mapper: ErrorMapper, builder: ApplicationBuilder = all()): Promise<TestApp> {
  return await testApp(builder.routes(routes()).errorMapping(new ErrorMapping().redactErrors(true).using(mapper)));
}

const all = () => Application.create().catchPanic().bodyLimit(10);

/** Requests `path`, and returns the response with the calls of the mapper, whose reply has a format of its own. */
async function asked(path: string, { method = "GET", body }: { method?: string; body?: string } = {}, builder = all()) {
  const calls: Asked[] = [];
  const mapper: ErrorMapper = (error, ctx) => {
    calls.push({ error, status: ctx.status });
    return Reply.json({ own: ctx.status });
  };
  await using app = await startedWith(mapper, builder);
  const response = await app.request(path, { method, ...(body !== undefined && { body }) });
  return { calls, status: response.status, headers: response.headers, text: await response.text() };
}

const ERRORS: readonly (readonly [string, string, object, number, new (...args: never[]) => Error, string])[] = [
  ["a path without a route", "/nowhere", {}, 404, NotFoundError, "Resource not found"],
  ["a method without a route", "/fine", { method: "DELETE" }, 405, MethodNotAllowedError, "Method not allowed"],
  ["a malformed path", "/%zz", {}, 400, BadRequestError, "The path is not valid percent-encoded UTF-8."],
  [
    "a long body",
    "/upload",
    { method: "POST", body: "x".repeat(11) },
    413,
    PayloadTooLargeError,
    "Request body too large",
  ],
  [
    "an exhausted quota",
    "/limited",
    {},
    429,
    TooManyRequestsError,
    "Too many requests. Slow down and try again shortly.",
  ],
  ["an empty refusal of a middleware", "/closed", {}, 503, UnavailableError, "Service unavailable"],
  ["a status alone", "/status", {}, 418, FrameworkError, "I'm a Teapot"],
  ["an error of the application", "/own", {}, 409, OutOfStock, "sold out"],
  ["an invalid body", "/invalid", {}, 422, ValidationError, "Request validation failed"],
  ["ctx.throw", "/koa", {}, 402, HttpError, "pay first"],
  ["ctx.assert", "/asserted", {}, 402, HttpError, "pay first"],
  ["a redirect that leads nowhere", "/redirect", {}, 500, FrameworkError, 'no route is named "nowhere"'],
  ["an unhandled error", "/panic", {}, 500, TypeError, fault.message],
];

describe("the error mapper", () => {
  for (const [what, path, request, status, kind, message] of ERRORS) {
    it(`gets ${kind.name} ${status} once for ${what}, and its reply is the response`, async () => {
      const { calls, text, ...response } = await asked(path, request);

      expect(calls.map(({ status: seen }) => seen)).to.deep.equal([status]);
      const [{ error } = { error: undefined }] = calls;
      expect(error).to.be.instanceOf(kind).and.include({ message });
      if (error instanceof FrameworkError) expect(error.status).to.equal(status);
      expect([response.status, JSON.parse(text)]).to.deep.equal([status, { own: status }]);
    });
  }

  it("gets RequestTimeoutError 408 once for a timeout", async () => {
    const { calls, status } = await asked("/slow", {}, all().timeout(1));

    expect(calls.map(({ error }) => error instanceof RequestTimeoutError)).to.deep.equal([true]);
    expect(status).to.equal(408);
  });

  it("gets the thrown value itself", async () => {
    const [{ error: unhandled } = { error: undefined }] = (await asked("/panic")).calls;
    const [nothing] = (await asked("/null")).calls;

    expect(unhandled).to.equal(fault);
    expect(nothing).to.deep.equal({ error: null, status: 500 });
  });

  it("gets the detail of a maintenance, and its reply keeps the other headers", async () => {
    const maintenance = new Maintenance();
    maintenance.engage();

    const { calls, headers } = await asked("/fine", {}, all().maintenance(maintenance));

    expect(calls).to.have.lengthOf(1);
    expect(calls[0]?.error).to.be.instanceOf(UnavailableError).and.include({
      message: "The application is down for maintenance. Please try again shortly.",
    });
    expect(headers.get("retry-after")).to.equal("60");
  });

  it("keeps the headers of the error and of a refusal", async () => {
    const thrown = await asked("/own");
    const refused = await asked("/fine", { method: "DELETE" });

    expect(thrown.headers.get("retry-after")).to.equal("9");
    expect(refused.headers.get("allow")).to.equal("GET, HEAD, OPTIONS");
    expect(refused.calls[0]?.error).to.deep.include({ headers: { Allow: "GET, HEAD, OPTIONS" } });
  });

  it("is not asked for a response with a body that the application returned", async () => {
    const { calls, status, text } = await asked("/returned");

    expect(calls).to.deep.equal([]);
    expect([status, text]).to.deep.equal([404, '{"mine":true}']);
  });

  it("is not asked for an unhandled error without the catchPanic stage", async () => {
    const { calls, status } = await asked("/panic", {}, Application.create());

    expect(calls).to.deep.equal([]);
    expect(status).to.equal(500);
  });

  const wrong: readonly (readonly [string, () => unknown, string])[] = [
    ["a promise", async () => Reply.text("late"), "a promise"],
    ["a promise that rejects", () => Promise.reject(fault), "a promise"],
    ["a string", () => "text", "a value of type string"],
    ["an object", () => ({}), "a value of type object"],
    ["null", () => null, "null"],
  ];
  for (const [what, mapper, named] of wrong) {
    it(`that returns ${what} is refused by name, and the problem stays`, async () => {
      await using app = await startedWith(untyped(mapper));

      for (const [path, type] of [
        ["/nowhere", "not-found"],
        ["/own", "conflict"],
        ["/panic", "internal"],
      ] as const) {
        const body: unknown = await (await app.get(path)).json();
        expect(body).to.include({ type: `urn:framework:problem:${type}` });
      }

      const lines = app.logs.lines().map((line) => expectLogLine(line));
      const failures = lines.filter(({ message }) => message === "error mapper failed");
      expect(failures.map(({ fields }) => fields?.["error"])).to.deep.equal(
        Array.from({ length: 3 }, () => `TypeError: the error mapper returned ${named}: return a Reply or undefined`),
      );
    });
  }

  it("is refused where it is not a function", () => {
    expect(() => new ErrorMapping().using(untyped("json"))).to.throw(TypeError, "json is not an error mapper");
  });

  it("decides by the request's headers", async () => {
    await using app = await startedWith(pageForBrowsers);

    const page = await app.get("/own", { headers: { accept: "text/html" } });
    const problem = await app.get("/own", { headers: { accept: "application/json" } });

    expect([page.status, await page.text()]).to.deep.equal([409, "<h1>Sorry</h1>"]);
    expect(problem.headers.get("content-type")).to.equal("application/problem+json");
  });
});

function redacting(builder: ApplicationBuilder): Promise<TestApp> {
  return testApp(builder.routes(routes()).errorMapping(new ErrorMapping().redactErrors(true)));
}

describe("redactErrors(true)", () => {
  it("keeps the detail of a refusal of the framework", async () => {
    const maintenance = new Maintenance();
    maintenance.engage();
    await using app = await redacting(all().maintenance(maintenance));

    const response = await app.get("/fine");

    await expectProblem(response, {
      status: 503,
      detail: "The application is down for maintenance. Please try again shortly.",
    });
  });

  it("drops the detail of an error that the application throws", async () => {
    await using app = await redacting(all());

    await expectProblem(await app.get("/unavailable"), { status: 503, detail: null });
    await expectProblem(await app.get("/thrown"), { status: 502, detail: null });
  });
});
