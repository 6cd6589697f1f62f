/**
 * Every thrown value, in every way and at every place, becomes a response with a status and with the headers of the outer stages. The body
 * says nothing about an unhandled error, the log holds it, and the connection stays open.
 */
import { once } from "node:events";
import net from "node:net";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import {
  Application,
  ErrorMapping,
  FrameworkError,
  NotFoundError,
  Reply,
  Route,
  Routes,
  UnavailableError,
  type ApplicationBuilder,
  type Context,
  type Next,
} from "@stagecraft/framework";
import { expectLogLine, expectProblem, testApp, type LogLine, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Gate } from "../support/gate.js";
import { PATIENT } from "../support/patient.js";
import { rejectionOf } from "../support/rejection-of.js";
import { withObservability } from "../support/with-observability.js";

const SECRET = "hunter2secret";

function springTrap(): never {
  throw new Error(`${SECRET} trap`);
}

/** Every access to it throws. */
function trap(): object {
  const names = Object.getOwnPropertyNames(Reflect) as (keyof ProxyHandler<object>)[];
  return new Proxy(Object.create(null), Object.fromEntries(names.map((name) => [name, springTrap])));
}

class Unreadable extends Error {
  override get message(): string {
    throw new Error(`${SECRET} message`);
  }
  override get stack(): string {
    throw new Error(`${SECRET} stack`);
  }
}

const PANICS: readonly (readonly [string, () => unknown])[] = [
  ["an Error", () => new Error(SECRET)],
  ["a TypeError", () => new TypeError(SECRET)],
  ["an error with a cause that is itself", () => selfCaused()],
  ["an error with a status of its own", () => Object.assign(new Error(SECRET), { status: 404, statusCode: 404 })],
  [
    "an upstream client's error that asks to be shown",
    () => Object.assign(new Error(SECRET), { status: 402, expose: 1 }),
  ],
  ["an aggregate", () => new AggregateError([new Error(SECRET)], SECRET)],
  ["an error that cannot be read", () => new Unreadable()],
  ["a frozen error", () => Object.freeze(new Error(SECRET))],
  ["a string", () => SECRET],
  ["an empty string", () => ""],
  ["a number", () => 404],
  ["NaN", () => Number.NaN],
  ["a bigint", () => 7n],
  ["a symbol", () => Symbol(SECRET)],
  ["true", () => true],
  ["null", () => null],
  ["undefined", () => undefined],
  ["a function", () => () => SECRET],
  ["a frozen object", () => Object.freeze({ status: 418, message: SECRET })],
  ["an object without a prototype", () => Object.assign(Object.create(null), { message: SECRET })],
  ["a proxy whose every trap throws", trap],
  ["a revoked proxy", () => revoked()],
  ["a promise", () => Promise.resolve(SECRET)],
  ["a Response", () => new Response(SECRET, { status: 403 })],
  ["a Reply", () => Reply.text(SECRET, 403)],
];

function selfCaused(): Error {
  const error = new Error(SECRET);
  error.cause = error;
  return error;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** The ways in which code in a handler or a middleware fails. */
const WAYS: Readonly<Record<string, (thrown: unknown) => (ctx: Context) => unknown>> = {
  "thrown at once": (thrown) => () => {
    throw thrown;
  },
  "rejected with": (thrown) => async () => {
    await new Promise((resolve) => setImmediate(resolve));
    throw thrown;
  },
  "rejected with by a foreign promise": (thrown) => () => ({
    // oxlint-disable-next-line unicorn/no-thenable -- handlers may return thenables
    then: (_resolve: unknown, reject: (reason: unknown) => void) => void setImmediate(() => reject(thrown)),
  }),
};

const served = (builder: ApplicationBuilder, handler: (ctx: Context) => unknown) =>
  testApp(builder.routes(new Routes([Route.any("/", handler), Route.get("/fine", () => "fine")])));

/** Bare: the error boundary and the last-resort handler alone. */
const bare = () => Application.create();
const full = () =>
  withObservability(Application.create())
    .compression()
    .securityHeaders()
    .cors({ origins: "*" })
    .bodyLimit(1000)
    .timeout(5000);

const APPLICATIONS: readonly (readonly [string, () => ApplicationBuilder])[] = [
  ["a bare application", bare],
  ["an application with every stage on", full],
];

function loggedBy(app: TestApp): readonly LogLine[] {
  return app.logs.lines().map((line) => expectLogLine(line));
}

const errorsOf = (app: TestApp) => loggedBy(app).filter(({ level }) => level === "ERROR");

/** The headers that outer stages set on every response. */
function expectHeaders({ headers }: Response): void {
  expect(headers.get("x-request-id")).to.match(/^[0-9a-f-]{36}$/);
  expect(headers.get("x-content-type-options")).to.equal("nosniff");
  expect(headers.get("access-control-allow-origin")).to.equal("*");
}

/** Sends requests one after the other on one connection; resolves to the received status lines. */
async function statusesOnOneConnection(app: TestApp, ...paths: readonly string[]): Promise<readonly string[]> {
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\n`);
  const response = await app.raw(`${requests.join("\r\n")}Connection: close\r\n\r\n`, PATIENT);
  return response.toString().match(/HTTP\/1\.1 \d{3}/g) ?? [];
}

async function* failingAfter(chunks: number): AsyncGenerator<string> {
  for (let chunk = 0; chunk < chunks; chunk += 1) yield "x".repeat(40_000);
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error(SECRET);
}

for (const [title, builder] of APPLICATIONS) {
  describe(`in ${title}, an unhandled error`, () => {
    for (const [way, failing] of Object.entries(WAYS)) {
      for (const [what, make] of PANICS) {
        it(`that is ${what}, ${way}, becomes a 500 without details, and the connection stays open`, async () => {
          await using app = await served(builder(), (ctx) => failing(make())(ctx));

          const response = await app.get("/", { headers: { Origin: "https://a.example" } });

          await expectProblem(response, { status: 500, slug: "internal", detail: null });
          expect(await response.text()).not.to.include(SECRET);
          if (builder === full) expectHeaders(response);
          expect(await statusesOnOneConnection(app, "/", "/fine")).to.deep.equal(["HTTP/1.1 500", "HTTP/1.1 200"]);
          expect(errorsOf(app)).to.have.lengthOf(2);
        });
      }
    }
  });

  describe(`in ${title}, an error with a status`, () => {
    const errors: readonly (readonly [string, (ctx: Context) => unknown, number, string | null])[] = [
      ["a FrameworkError", () => raise(new NotFoundError("no link 7")), 404, "no link 7"],
      [
        "one with headers",
        () => raise(new UnavailableError("later", { headers: { "Retry-After": "9" } })),
        503,
        "later",
      ],
      ["ctx.throw", (ctx) => ctx.throw(409, "taken"), 409, "taken"],
      ["ctx.throw of a 5xx", (ctx) => ctx.throw(502, SECRET), 502, null],
      ["ctx.assert", (ctx) => ctx.assert(false, 401, "who?"), 401, "who?"],
      ["a frozen one", () => raise(Object.freeze(new NotFoundError("frozen"))), 404, "frozen"],
      ["one whose status is none", () => raise(new FrameworkError("odd", { status: 200 })), 500, "odd"],
    ];
    for (const [what, handler, status, detail] of errors) {
      it(`from ${what} becomes its response`, async () => {
        await using app = await served(builder(), handler);

        const response = await app.get("/", { headers: { Origin: "https://a.example" } });

        await expectProblem(response, { status, detail });
        if (builder === full) expectHeaders(response);
        expect(await statusesOnOneConnection(app, "/", "/fine")).to.deep.equal([`HTTP/1.1 ${status}`, "HTTP/1.1 200"]);
      });
    }
  });

  describe(`in ${title}, a body`, () => {
    it("that fails before its first byte becomes a 500", async () => {
      await using app = await served(builder(), () => Readable.from(failingAfter(0)));

      const response = await app.get("/");

      await expectProblem(response, { status: 500, detail: null });
      expect(await statusesOnOneConnection(app, "/", "/fine")).to.deep.equal(["HTTP/1.1 500", "HTTP/1.1 200"]);
    });

    it("that fails after its first bytes is truncated, and the next request is served", async () => {
      await using app = await served(builder(), () => Readable.from(failingAfter(3)));

      const response = await app.get("/");

      expect(response.status).to.equal(200);
      await rejectionOf(response.arrayBuffer());
      expect(errorsOf(app).map(({ message }) => message)).to.deep.equal(["response failed"]);
      expect(await (await app.get("/fine")).text()).to.equal("fine");
    });

    it("that an error replaces is destroyed", async () => {
      const body = Readable.from(failingAfter(1));
      await using app = await served(builder(), (ctx) => {
        ctx.body = body;
        throw new NotFoundError("changed my mind");
      });

      const response = await app.get("/");

      await expectProblem(response, { status: 404 });
      expect(body.destroyed).to.equal(true);
    });

    const unserialisable: readonly (readonly [string, () => unknown])[] = [
      ["a bigint in it", () => ({ n: 1n })],
      ["a cycle", cyclic],
      ["a toJSON that throws", () => ({ toJSON: () => raise(new Error(SECRET)) })],
      [
        "a getter that throws null",
        () => ({
          get x() {
            throw null;
          },
        }),
      ],
      ["a trap", trap],
      ["a function", () => () => ""],
      ["a symbol", () => Symbol("x")],
      ["a status that no head may have", () => Reply.text("x", 99)],
      ["a header that no head may have", () => Reply.text("x").header("X-A", "☃")],
    ];
    for (const [what, make] of unserialisable) {
      it(`with ${what} becomes a 500`, async () => {
        await using app = await served(builder(), () => make());

        const response = await app.get("/");

        await expectProblem(response, { status: 500, detail: null });
        expect(await statusesOnOneConnection(app, "/", "/fine")).to.deep.equal(["HTTP/1.1 500", "HTTP/1.1 200"]);
      });
    }
  });
}

describe("an error during the response to an error", () => {
  const cases: readonly (readonly [string, () => ApplicationBuilder, (ctx: Context) => unknown, number])[] = [
    ["in a layer's finally", () => full().layer(throwingAfter), () => raise(new NotFoundError("first")), 500],
    ["in a layer that responds to errors", () => full().layer(throwingInCatch), () => raise(new Error("first")), 500],
    ["in the headers of the error", full, () => raise(new NotFoundError("x", { headers: { "Bad Name": "\n" } })), 500],
    ["in the extensions of the error", full, () => raise(new NotFoundError("x", { extensions: { a: 1n } })), 404],
    ["in a status that no head may have", full, () => raise(Object.assign(new NotFoundError("x"), { status: 7 })), 500],
  ];
  for (const [where, builder, handler, status] of cases) {
    it(`${where} still becomes a response, and the connection stays open`, async () => {
      await using app = await served(builder(), handler);

      const response = await app.get("/", { headers: { Origin: "https://a.example" } });

      await expectProblem(response, { status });
      expectHeaders(response);
      expect(await statusesOnOneConnection(app, "/", "/fine")).to.deep.equal([`HTTP/1.1 ${status}`, "HTTP/1.1 200"]);
    });
  }

  it("in the mapper leaves the response to the other rules, for errors with and without a status", async () => {
    const mapping = new ErrorMapping().using(() => raise(null));
    await using app = await served(Application.create().catchPanic().errorMapping(mapping), (ctx) =>
      raise(ctx.search()["panic"] === undefined ? new NotFoundError("first") : new Error(SECRET)),
    );

    await expectProblem(await app.get("/"), { status: 404, detail: "first" });
    await expectProblem(await app.get("/?panic"), { status: 500, detail: null });
    expect(errorsOf(app).map(({ message }) => message)).to.include("error mapper failed");
  });
});

describe("an error outside the handler", () => {
  const trapped: readonly (readonly [string, (builder: ApplicationBuilder) => ApplicationBuilder])[] = [
    ["in the proxy function", (builder) => builder.proxy(() => raise(new Error(SECRET)))],
    ["in a proxy function that is asynchronous", (builder) => builder.proxy(async () => raise(null))],
    ["in the predicate of CORS", (builder) => builder.cors({ origins: () => raise(new Error(SECRET)) })],
    ["in a layer", (builder) => builder.layer(() => raise(new Error(SECRET)))],
    ["in a layer that calls next twice", (builder) => builder.layer(twice)],
  ];
  for (const [where, breaking] of trapped) {
    it(`${where} becomes a 500`, async () => {
      await using app = await served(breaking(bare()), () => "");

      const response = await app.get("/", { headers: { Origin: "https://a.example" } });

      await expectProblem(response, { status: 500, detail: null });
      expect(await response.text()).not.to.include(SECRET);
      expect(await statusesOnOneConnection(app, "/", "/")).to.deep.equal(["HTTP/1.1 500", "HTTP/1.1 500"]);
    });
  }

  it("leaves no part of an unfinished response on the 500 of an unhandled error", async () => {
    await using app = await served(full(), (ctx) => {
      ctx.set({ "X-Half": "made", "Cache-Control": "max-age=60", "Content-Language": "en" });
      ctx.cookies.set("half", "made");
      ctx.status = 201;
      ctx.body = { half: "made" };
      throw new Error(SECRET);
    });

    const response = await app.get("/");

    await expectProblem(response, { status: 500, detail: null });
    const names = [...response.headers.keys()];
    expect(names).not.to.include.any.members(["x-half", "cache-control", "content-language", "set-cookie"]);
  });

  it("keeps headers set before an error with a status, except those that describe the body", async () => {
    await using app = await served(full(), (ctx) => {
      ctx.set({ "X-Set": "before", "Cache-Control": "max-age=60", "Content-Language": "en", ETag: '"1"' });
      ctx.cookies.set("set", "before");
      throw new NotFoundError("later");
    });

    const response = await app.get("/");

    await expectProblem(response, { status: 404, detail: "later" });
    const { headers } = response;
    expect(headers.get("x-set")).to.equal("before");
    expect(headers.getSetCookie()).to.have.lengthOf(1);
    expect([...headers.keys()]).not.to.include.any.members(["cache-control", "content-language", "etag"]);
  });
});

describe("after the head was sent by hand", () => {
  for (const [way, failing] of Object.entries(WAYS)) {
    it(`an error ${way} destroys the connection: the client sees a truncated body`, async () => {
      await using app = await served(full(), (ctx) => {
        ctx.res.writeHead(200, { "X-Own": "1" });
        ctx.res.write("the first part");
        return failing(new NotFoundError("too late"))(ctx);
      });

      await rejectionOf(app.get("/").then((response) => response.text()));

      expect(errorsOf(app).map(({ message }) => message)).to.deep.equal(["response failed"]);
      expect(await (await app.get("/fine")).text()).to.equal("fine");
    });
  }
});

describe("a client that leaves", () => {
  it("aborts the signal, gets no response, and is not logged as an error", async () => {
    const [asked, left] = [new Gate(), new Gate<unknown>()];
    await using app = await served(full(), async (ctx) => {
      asked.open();
      await once(ctx.signal, "abort");
      left.open(ctx.signal.reason);
      throw ctx.signal.reason;
    });
    const leaving = new AbortController();

    const response = rejectionOf(app.get("/", { signal: leaving.signal }));
    await asked.passed;
    leaving.abort();

    expect(await left.passed).to.include({ code: "E_CLIENT_GONE", status: 499 });
    expect(await response).to.have.property("name", "AbortError");
    expect(await (await app.get("/fine")).text()).to.equal("fine");
    expect(errorsOf(app)).to.deep.equal([]);
  });

  it("is not logged as an error where a function of Node throws its own error for the signal", async () => {
    const [asked, left] = [new Gate(), new Gate<unknown>()];
    await using app = await served(full(), async (ctx) => {
      asked.open();
      const waiting = pause(60_000, "", { signal: ctx.signal });
      left.open(await rejectionOf(waiting));
      return waiting;
    });
    const leaving = new AbortController();

    const response = rejectionOf(app.get("/", { signal: leaving.signal }));
    await asked.passed;
    leaving.abort();
    await response;

    expect(await left.passed).to.have.property("name", "AbortError");
    expect(await (await app.get("/fine")).text()).to.equal("fine");
    expect(errorsOf(app)).to.deep.equal([]);
  });

  it("in the middle of its body makes the reader fail", async () => {
    const read = new Gate<Error>();
    await using app = await served(full(), async (ctx) => {
      read.open(await rejectionOf(ctx.text()));
    });
    const socket = net.connect(Number(new URL(app.url).port), "127.0.0.1");

    socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf", () => socket.destroy());

    expect(await read.passed).to.include({ code: "E_CLIENT_GONE" });
    expect(errorsOf(app)).to.deep.equal([]);
  });

  it("while a body is sent destroys the stream", async () => {
    const body = new Readable({ read: () => {} });
    body.push("the first part");
    await using app = await served(full(), () => body);
    const response = await app.get("/");

    await response.body?.cancel();
    await new Promise((resolve) => body.once("close", resolve));

    expect(body.destroyed).to.equal(true);
    expect(errorsOf(app)).to.deep.equal([]);
  });
});

async function throwingAfter({ path }: Context, next: Next): Promise<void> {
  try {
    await next();
  } finally {
    if (path === "/") raise(new Error(SECRET));
  }
}

async function throwingInCatch(_ctx: Context, next: Next): Promise<void> {
  await next().catch((error: Error & { missing?: { deep: string } }) => error.missing?.deep.length ?? raise(trap()));
}

async function twice(_ctx: Context, next: Next): Promise<void> {
  await next();
  await next();
}

function raise(error: unknown): never {
  throw error;
}

function cyclic(): object {
  const object: Record<string, unknown> = {};
  object["self"] = object;
  return object;
}
