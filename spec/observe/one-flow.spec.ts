/** A handler's events have the fields of its request, in every kind of asynchronous code; over a real socket. */
import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter, once } from "node:events";
import http from "node:http";
import net from "node:net";
import { PassThrough, pipeline, Readable } from "node:stream";
import { expect } from "chai";
import { Application, Route, Routes, type Context, type RunningApplication } from "../../lib/entries/main.js";
import { tracing } from "../../lib/tracing/tracing.js";
import { CaptureSink } from "../../lib/observe/logging/sink.js";
import { JsonLog } from "../../lib/observe/logging/json-log.js";
import { until } from "../support/until.js";

const log = tracing.target("shop::links");

interface Line {
  readonly target: string;
  readonly message: string;
  readonly spans?: readonly string[];
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** An application with one handler and its own log. */
async function logged(handler: (ctx: Context) => unknown): Promise<{ app: RunningApplication; lines: () => Line[] }> {
  const sink = new CaptureSink();
  const app = await tracing.withSubscriber(tracing.registry().with(new JsonLog(sink)), () => serve(handler));
  return { app, lines: () => sink.lines().map((line) => JSON.parse(line) as Line) };
}

async function serve(handler: (ctx: Context) => unknown): Promise<RunningApplication> {
  const listener = net.createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const routes = new Routes([Route.any("/{path}", handler)]);
  return Application.create()
    .lifecycle({ drainDelayMs: 0 })
    .routes(routes)
    .requestId()
    .traceContext()
    .accessLog()
    .build()
    .serve(listener);
}

const BODY = "x".repeat(200_000);

const ways: Readonly<Record<string, (ctx: Context) => unknown>> = {
  synchronously: () => log.info("seen"),
  "after an await": async () => {
    await Promise.resolve();
    log.info("seen");
  },
  "in a timer": () => new Promise<void>((resolve) => setTimeout(() => resolve(log.info("seen")), 1)),
  "in setImmediate, nextTick and queueMicrotask": () =>
    new Promise<void>((resolve) => {
      setImmediate(() => process.nextTick(() => queueMicrotask(() => resolve(log.info("seen")))));
    }),
  "in a listener of its own emitter": () => {
    const emitter = new EventEmitter().once("done", () => log.info("seen"));
    emitter.emit("done");
  },
  "while it reads the body": async (ctx) => {
    await ctx.text();
    log.info("seen");
  },
  "for each chunk of the body": async (ctx) => {
    for await (const _ of ctx.req) log.info("seen");
  },
  "in a listener to the body's data": (ctx) =>
    once(
      ctx.req.on("data", () => log.info("seen")),
      "end",
    ),
  "in a listener to the body's end": (ctx) =>
    new Promise<void>((resolve) => ctx.req.once("end", () => resolve(log.info("seen"))).resume()),
  "in a stream through which the body is piped": (ctx) =>
    new Promise<void>((resolve) => {
      const through = new PassThrough().on("data", () => log.info("seen"));
      pipeline(ctx.req, through, () => resolve(log.info("seen")));
    }),
  "when the response is finished": (ctx) => {
    ctx.res.once("finish", () => log.info("seen"));
    return "done";
  },
  "when the response is closed": (ctx) => {
    ctx.res.once("close", () => log.info("seen"));
    return "done";
  },
  "in the generator of a body that waits for the client": () => Readable.from(chunks()),
};

async function* chunks(): AsyncGenerator<Buffer> {
  for (let i = 0; i < 40; i++) {
    log.info("seen");
    yield Buffer.alloc(100_000);
    log.info("seen");
  }
}

describe("the flow of a request", () => {
  for (const [way, handler] of Object.entries(ways)) {
    it(`gives its fields to events that a handler emits ${way}`, async () => {
      const { app, lines } = await logged(handler);

      const response = await fetch(`${app.url}/links?token=canary`, { method: "POST", body: BODY });
      await response.arrayBuffer();
      await until(() => lines().some(({ message }) => message === "seen"));
      await app.stop();

      const id = response.headers.get("x-request-id");
      const seen = lines().filter(({ message }) => message === "seen");
      for (const line of seen) {
        expect(line.fields).to.include({ request_id: id, method: "POST", path: "/links", client_ip: "127.0.0.1" });
        expect(line.fields).to.have.all.keys("request_id", "method", "path", "client_ip", "trace_id", "parent_span_id", "continued_trace"); // prettier-ignore
        expect(line.spans).to.deep.equal(["framework.request", "framework.request"]);
      }
      expect(lines().filter(({ target }) => target === "framework::observe::access_log")).to.have.lengthOf(1);
    });
  }

  it("gives its fields to a listener of the signal when the client leaves", async () => {
    const { app, lines } = await logged(
      (ctx) => new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve(log.info("gone")))),
    );

    const request = http.get(`${app.url}/slow`, { agent: false }).on("error", () => {});
    request.once("socket", (socket) => socket.once("connect", () => setImmediate(() => request.destroy())));
    await until(() => lines().some(({ message }) => message === "gone"));

    await app.stop();
    const line = lines().find(({ message }) => message === "gone");
    expect(line?.fields).to.include({ method: "GET", path: "/slow" });
    expect(line?.spans).to.deep.equal(["framework.request", "framework.request"]);
  });

  it("gives its fields to a body that ends because the client leaves", async () => {
    const { app, lines } = await logged(() => {
      const body = new Readable({ read: () => body.push("more") });
      return body.once("close", () => log.info("given up"));
    });

    // The event's one argument, by Node's documentation.
    const [response] = (await once(http.get(`${app.url}/endless`, { agent: false }), "response")) as [
      http.IncomingMessage,
    ];
    response.once("data", () => response.destroy());
    await until(() => lines().some(({ message }) => message === "given up"));

    await app.stop();
    const end = lines().find(({ message }) => message === "given up");
    expect(end?.fields).to.include({ method: "GET", path: "/endless" });
  });

  it("is entered once, with all stages on and a handler that awaits often", async () => {
    const { app } = await logged(async (ctx) => {
      for (let count = 0; count < 10; count++) await Promise.resolve();
      return ctx.text();
    });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    await get(`${app.url}/first`, agent);

    const entered = countEntries();
    for (const path of ["/one", "/two", "/three"]) await get(`${app.url}${path}`, agent);
    const entries = entered();
    agent.destroy();
    await app.stop();

    expect(entries).to.equal(3);
  });

  it("is separate for each request of one connection", async () => {
    const { app, lines } = await logged((ctx) => {
      ctx.res.once("close", () => log.info(ctx.path));
      return "done";
    });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

    for (const path of ["/one", "/two", "/three"]) await get(`${app.url}${path}`, agent);
    agent.destroy();
    await app.stop();

    const own = lines().filter(({ target }) => target === "shop::links");
    expect(own.map(({ message }) => message)).to.deep.equal(["/one", "/two", "/three"]);
    expect(own.map(({ fields }) => fields?.["path"])).to.deep.equal(["/one", "/two", "/three"]);
  });
});

/** Counts how often the process enters any AsyncLocalStorage, until the returned function is called. */
function countEntries(): () => number {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this` below
  const { run } = AsyncLocalStorage.prototype;
  let entries = 0;
  AsyncLocalStorage.prototype.run = function (this: AsyncLocalStorage<unknown>, ...args: Parameters<typeof run>) {
    entries++;
    return Reflect.apply(run, this, args) as never;
  };
  return () => {
    AsyncLocalStorage.prototype.run = run;
    return entries;
  };
}

async function get(url: string, agent: http.Agent): Promise<void> {
  // The event's one argument, by Node's documentation.
  const [response] = (await once(http.get(url, { agent }), "response")) as [http.IncomingMessage];
  await once(response.resume(), "end");
}
