/** The access-log stage: one line per request, the fields of the line, and the fields that events of a handler inherit. */
import { EventEmitter, once } from "node:events";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { Context } from "../../lib/http/request/context.js";
import { NotFoundError, UnavailableError } from "../../lib/errors/framework-error.js";
import { tracing } from "../../lib/tracing/tracing.js";
import { AccessLogLayer } from "../../lib/stages/access-log.js";
import { MetricsLayer } from "../../lib/stages/metrics.js";
import { HTTP_REQUESTS_TOTAL, Metrics } from "../../lib/observe/metrics/metrics.js";
import { RequestIdLayer } from "../../lib/stages/request-id.js";
import { REQUEST } from "../../lib/observe/request-span.js";
import { TraceContextLayer } from "../../lib/stages/trace-context.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { obeysLayerContract } from "../../lib/testing/contracts/obeys-layer-contract.js";
import { HANDLER_RESULTS } from "../support/handler-results.js";
import { Conversation } from "../support/conversation.js";
import { Gate } from "../support/gate.js";
import { Stack } from "../support/stack.js";
import { until } from "../support/until.js";
import { TracingRecorder } from "../support/tracing-recorder.js";

const TARGET = "framework::observe::access_log";
const log = tracing.target("spec");
const logged = [new RequestIdLayer(), new AccessLogLayer()];

/** A stack whose events are collected. */
async function listening(layers: readonly (RequestIdLayer | AccessLogLayer)[], handler: (ctx: Context) => unknown) {
  const witness = new TracingRecorder();
  const clock = new FakeClock();
  const stack = await witness.run(() => Stack.of(layers, handler, clock));
  return {
    stack,
    witness,
    clock,
    lines: () => witness.from(TARGET),
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

describe("AccessLogLayer", () => {
  it("obeys the layer contract", () => obeysLayerContract(new AccessLogLayer()));

  it("writes one line with method, path, status, duration, id and client", async () => {
    await using app = await listening(logged, () => {
      app.clock.advance(1234.9);
      return "hello";
    });

    await app.stack.ask("/links/7?token=secret", { headers: { "x-request-id": "abc" } });

    expect(app.lines()).to.deep.equal([
      {
        level: "INFO",
        target: TARGET,
        message: "GET /links/7 200 1234ms",
        fields: {
          method: "GET",
          path: "/links/7",
          status: 200,
          duration_ms: 1234,
          request_id: "abc",
          client_ip: "127.0.0.1",
        },
        spans: [],
        inherited: {},
      },
    ]);
  });

  for (const [what, status, handler] of HANDLER_RESULTS) {
    it(`writes one line, with ${status}, for ${what}`, async () => {
      await using app = await listening(logged, handler);

      const answer = await app.stack.ask();

      expect(answer.status).to.equal(status);
      expect(app.lines().map(({ fields }) => fields["status"])).to.deep.equal([status]);
    });
  }

  it("writes the line before the first byte of the response", async () => {
    const seen: number[] = [];
    await using app = await listening(logged, () =>
      Readable.from(
        (async function* () {
          seen.push(app.lines().length);
          yield "a";
          await pause(5);
          seen.push(app.lines().length);
          yield "b";
        })(),
      ),
    );

    const answer = await app.stack.ask();

    expect(answer.text).to.equal("ab");
    expect(seen).to.deep.equal([1, 1]);
  });

  it("writes no second line when the body fails after the head", async () => {
    await using app = await listening(logged, () =>
      Readable.from(
        (async function* () {
          yield "a".repeat(100_000);
          await pause(5);
          throw new Error("the disk is gone");
        })(),
      ),
    );

    const outcome = await app.stack.ask().catch((error: unknown) => error);

    expect(outcome).to.be.instanceOf(Error);
    expect(app.lines().map(({ fields }) => fields["status"])).to.deep.equal([200]);
    await until(() => app.witness.from("framework::http::send").length > 0);
    const [failure] = app.witness.from("framework::http::send");
    expect(failure).to.deep.include({ level: "ERROR", message: "response failed" });
    expect(failure?.inherited).to.include({ method: "GET", path: "/" });
  });

  it("measures the duration from the outermost stage that measures", async () => {
    const slow = { handle: (_ctx: Context, next: () => Promise<void>) => (app.clock.advance(100), next()) };
    const layers = [new TraceContextLayer(), slow, ...logged] as RequestIdLayer[];
    await using app = await listening(layers, () => (app.clock.advance(11), "hello"));

    await app.stack.ask();

    expect(app.lines()[0]?.fields).to.include({ duration_ms: 111 });
  });

  it("writes HEAD as the method", async () => {
    await using app = await listening(logged, () => "hello");

    await app.stack.ask("/about", { method: "HEAD" });

    expect(app.lines()[0]).to.deep.include({ message: "HEAD /about 200 0ms" });
  });

  describe("for a client that leaves", () => {
    it("writes 499 once and immediately, when the client leaves before the response", async () => {
      const leave = new Gate();
      await using app = await listening(logged, () => leave.passed);
      await using client = await Conversation.with(app.stack.port);
      client.say("GET /slow HTTP/1.1\r\nHost: spec\r\nx-request-id: abc\r\n\r\n");
      await until(() => app.witness.spans.length > 0);

      client.socket.destroy();
      await until(() => app.lines().length > 0);
      leave.open();
      await pause(10);

      expect(app.lines().map(({ message }) => message)).to.deep.equal(["GET /slow 499 0ms"]);
      expect(app.lines()[0]?.fields).to.include({ request_id: "abc", status: 499 });
      expect(app.lines()[0]).to.deep.include({ spans: [], inherited: {} });
    });

    it("writes 499 when the client leaves; a listener inside a span of the handler still belongs to the request", async () => {
      await using app = await listening(logged, (ctx) =>
        log.span("work").run(() => {
          ctx.signal.addEventListener("abort", () => log.info("left"));
          return new Promise(() => {});
        }),
      );
      await using client = await Conversation.with(app.stack.port);
      client.say("GET /slow HTTP/1.1\r\nHost: spec\r\nx-request-id: abc\r\n\r\n");
      await until(() => app.witness.spans.length > 1);

      client.socket.destroy();
      await until(() => app.lines().length > 0);

      expect(
        app.witness.from("spec").map(({ message, inherited }) => [message, inherited["request_id"]]),
      ).to.deep.equal([["left", "abc"]]);
    });

    it("writes 499 when the client left before the request reached the log", async () => {
      const [reached, leave] = [new Gate<Context>(), new Gate()];
      const slow = {
        handle: (ctx: Context, next: () => Promise<void>) => (reached.open(ctx), leave.passed.then(next)),
      };
      await using app = await listening([slow, ...logged] as RequestIdLayer[], () => "hello");
      await using client = await Conversation.with(app.stack.port);
      client.say("GET /slow HTTP/1.1\r\nHost: spec\r\n\r\n");
      const ctx = await reached.passed;

      client.socket.destroy();
      await until(() => ctx.isClientGone);
      leave.open();
      await until(() => app.lines().length > 0);

      expect(app.lines().map(({ fields }) => fields["status"])).to.deep.equal([499]);
      expect(app.lines()[0]?.fields).to.include({ client_ip: "127.0.0.1" });
    });

    const endings: readonly (readonly [string, (client: Conversation, ctx: Context) => void])[] = [
      ["the client leaves", (client) => client.socket.destroy()],
      ["the client resets the connection", (client) => client.socket.resetAndDestroy()],
      ["the response is destroyed", (_client, ctx) => ctx.res.destroy()],
    ];
    for (const [what, end] of endings) {
      it(`writes 499 when ${what} before a response is written by hand, counts it, aborts its signal and closes its spans`, async () => {
        const metrics = new Metrics();
        const requests: Context[] = [];
        const layers = [new RequestIdLayer(), new TraceContextLayer(), new AccessLogLayer(), new MetricsLayer(metrics)];
        await using app = await listening(layers, (ctx) => {
          ctx.respond = false;
          requests.push(ctx);
        });
        await using client = await Conversation.with(app.stack.port);
        client.say("GET /events HTTP/1.1\r\nHost: spec\r\n\r\n");
        await until(() => requests.length > 0);
        await pause(5);

        // It was asked for once.
        const [ctx] = requests as [Context];
        const { signal } = ctx;
        end(client, ctx);
        await until(() => app.lines().length > 0);
        await pause(5);

        expect(app.lines().map(({ fields }) => fields["status"])).to.deep.equal([499]);
        expect(metrics.counterValue(HTTP_REQUESTS_TOTAL, { method: "GET", status: "499" })).to.equal(1);
        expect(signal.reason).to.include({ code: "E_CLIENT_GONE" });
        expect(app.witness.spans.map(({ outcome }) => outcome)).to.deep.equal([{ ok: true }, { ok: true }]);
      });
    }

    it("does not write 499 when the client leaves while the body is sent", async () => {
      await using app = await listening(logged, () =>
        Readable.from(
          (async function* () {
            for (;;) {
              yield "a".repeat(65_536);
              await pause(1);
            }
          })(),
        ),
      );
      await using client = await Conversation.with(app.stack.port);
      await client.say("GET / HTTP/1.1\r\nHost: spec\r\n\r\n").hear(/aaa/);

      client.socket.destroy();
      await pause(20);

      expect(app.lines().map(({ fields }) => fields["status"])).to.deep.equal([200]);
    });

    it("does not write 499 when a handler has written the head by hand", async () => {
      await using app = await listening(logged, (ctx) => {
        ctx.res.writeHead(200).write("begun");
        return new Promise(() => {});
      });
      await using client = await Conversation.with(app.stack.port);
      await client.say("GET / HTTP/1.1\r\nHost: spec\r\n\r\n").hear(/begun/);

      client.socket.destroy();
      await until(() => app.lines().length > 0);

      expect(app.lines().map(({ fields }) => fields["status"])).to.deep.equal([200]);
    });
  });

  describe("for the path", () => {
    const paths: readonly (readonly [string, string, string])[] = [
      ["without the query", "/a?b=c", "/a"],
      ["without an empty query", "/a?", "/a"],
      ["with its encoding unchanged", "/a%2Fb%20c/%C3%A9", "/a%2Fb%20c/%C3%A9"],
      ["with a malformed encoding unchanged", "/a%zz", "/a%zz"],
      ["with doubled slashes", "//a//b/", "//a//b/"],
      ["without the authority of an absolute target", "http://user:secret@example.com/a?b=c", "/a"],
      ["with all of its 8000 characters", `/${"a".repeat(8000)}`, `/${"a".repeat(8000)}`],
    ];

    for (const [what, target, path] of paths) {
      it(`writes the path ${what}`, async () => {
        await using app = await listening(logged, () => "hello");

        await app.stack.raw(`GET ${target} HTTP/1.1\r\nHost: spec\r\nConnection: close\r\n\r\n`);

        expect(app.lines().map(({ fields }) => fields["path"])).to.deep.equal([path]);
        expect(app.lines()[0]?.message).to.equal(`GET ${path} 200 0ms`);
      });
    }

    it("writes the path of the arriving request, even if a handler changes it", async () => {
      await using app = await listening(logged, (ctx) => {
        ctx.path = "/rewritten";
        ctx.method = "DELETE";
        return "hello";
      });

      await app.stack.ask("/asked");

      expect(app.lines()[0]?.message).to.equal("GET /asked 200 0ms");
    });
  });

  it("writes an empty request_id without the request-id stage", async () => {
    await using app = await listening([new AccessLogLayer()], () => "hello");

    await app.stack.ask("/", { headers: { "x-request-id": "abc" } });

    expect(app.lines()[0]?.fields).to.include({ request_id: "" });
  });

  it("ignores forwarding headers of a peer that is not trusted", async () => {
    await using app = await listening(logged, () => "hello");

    await app.stack.ask("/", { headers: { "x-forwarded-for": "203.0.113.7", "x-real-ip": "203.0.113.8" } });

    expect(app.lines()[0]?.fields).to.include({ client_ip: "127.0.0.1" });
  });

  it("writes its line inside the span of the trace and outside its own span", async () => {
    await using app = await listening([new TraceContextLayer(), ...logged], () => log.info("working"));
    const [trace_id, parent_span_id] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];

    await app.stack.ask("/", { headers: { traceparent: `00-${trace_id}-${parent_span_id}-01` } });

    const trace = { trace_id, parent_span_id, continued_trace: true };
    const [event] = app.witness.from("spec");
    expect(app.lines()[0]).to.deep.include({ spans: [REQUEST], inherited: trace });
    expect(event?.spans).to.deep.equal([REQUEST, REQUEST]);
    expect(event?.inherited).to.include({ ...trace, method: "GET", path: "/", client_ip: "127.0.0.1" });
  });

  describe("for the events of a handler", () => {
    const shared = new EventEmitter();
    const ways: readonly (readonly [string, (ctx: Context, tell: () => void) => unknown])[] = [
      ["at once", (_ctx, tell) => tell()],
      ["after an await", async (_ctx, tell) => (await Promise.resolve(), tell())],
      ["in a timer", async (_ctx, tell) => (await pause(2), tell())],
      ["in an immediate", (_ctx, tell) => new Promise<void>((done) => setImmediate(() => (tell(), done())))],
      ["in a microtask", (_ctx, tell) => new Promise<void>((done) => queueMicrotask(() => (tell(), done())))],
      [
        "of an emitter that the handler feeds",
        (_ctx, tell) => {
          shared.once("news", tell);
          shared.emit("news");
        },
      ],
      ["of the request's data", (ctx, tell) => once(ctx.req.on("data", tell).resume(), "end")],
      ["of the request's end", (ctx, tell) => once(ctx.req.resume().on("end", tell), "end")],
      ["while it reads the request in a loop", readInLoop],
      ["after the body was read", async (ctx, tell) => (await ctx.text(), tell())],
      ["while the response is streamed", (_ctx, tell) => Readable.from(told(tell))],
      ["when the response is finished", (ctx, tell) => (ctx.res.once("finish", tell), "hello")],
      ["in work after the response", (_ctx, tell) => (setTimeout(tell, 5), "hello")],
    ];

    for (const [what, handler] of ways) {
      it(`lets events inherit id, method, path and client: ${what}`, async () => {
        await using app = await listening(logged, (ctx) => handler(ctx, () => log.info("told")));

        const body = "a".repeat(200_000);
        const headers = { "x-request-id": "abc", "content-type": "text/plain" };
        await app.stack.ask("/work", { method: "POST", headers, body });
        await until(() => app.witness.from("spec").length > 0);

        const expected = { request_id: "abc", method: "POST", path: "/work", client_ip: "127.0.0.1" };
        for (const event of app.witness.from("spec"))
          expect(event).to.deep.include({ spans: [REQUEST], inherited: expected });
      });
    }

    it("lets events inherit the fields when the signal of the request aborts", async () => {
      await using app = await listening(logged, (ctx) => {
        ctx.signal.addEventListener("abort", () => log.info("aborted"));
        return new Promise(() => {});
      });
      await using client = await Conversation.with(app.stack.port);
      client.say("GET /slow HTTP/1.1\r\nHost: spec\r\nx-request-id: abc\r\n\r\n");
      await until(() => app.witness.spans.length > 0);

      client.socket.destroy();
      await until(() => app.witness.from("spec").length > 0);

      expect(app.witness.from("spec")[0]?.inherited).to.include({ request_id: "abc", path: "/slow" });
    });

    it("lets each event inherit the fields of its own request, when many run at the same time", async () => {
      await using app = await listening(logged, async (ctx) => {
        for (let turn = 0; turn < 3; turn++) await pause(turn);
        log.info("told", { expected: ctx.path });
      });

      await Promise.all(Array.from({ length: 20 }, (_, at) => app.stack.ask(`/${at}`)));

      const events = app.witness.from("spec");
      expect(events).to.have.length(20);
      for (const { fields, inherited } of events) expect(inherited["path"]).to.equal(fields["expected"]);
    });

    it("lets events inherit the fields inside a span of the handler, whose fields take precedence", async () => {
      await using app = await listening(logged, () =>
        log.span("import", { path: "/data.csv" }).run(async () => {
          await pause(1);
          log.info("told");
        }),
      );

      await app.stack.ask("/work", { headers: { "x-request-id": "abc" } });

      const [event] = app.witness.from("spec");
      expect(event?.spans).to.deep.equal([REQUEST, "import"]);
      expect(event?.inherited).to.include({ request_id: "abc", path: "/data.csv" });
    });
  });

  it("ends its span with the error that passes it, and with the status of a server error", async () => {
    const failure = new Error("boom");
    const outcomes: readonly (readonly [() => unknown, unknown])[] = [
      [() => "hello", { ok: true }],
      [() => Promise.reject(new NotFoundError("no")), { ok: true }],
      [() => Promise.reject(new UnavailableError()), { ok: false, error: "HTTP 503" }],
      [() => Promise.reject(failure), { ok: false, error: failure }],
    ];

    for (const [handler, outcome] of outcomes) {
      await using app = await listening(logged, handler);

      await app.stack.ask();

      expect(app.witness.spans.map((span) => span.outcome)).to.deep.equal([outcome]);
    }
  });

  it("writes two lines when it is installed twice", async () => {
    await using app = await listening([...logged, new AccessLogLayer()], () => "hello");

    await app.stack.ask("/", { headers: { "x-request-id": "abc" } });

    expect(app.lines().map(({ spans }) => spans.length)).to.deep.equal([1, 0]);
    expect(app.lines().map(({ message }) => message)).to.deep.equal(["GET / 200 0ms", "GET / 200 0ms"]);
  });

  it("opens no span without a subscriber", async () => {
    await using stack = await Stack.of(logged, () => (tracing.currentSpan() === undefined ? "none" : "one"));

    const answer = await stack.ask();

    expect(answer.text).to.equal("none");
  });
});

async function readInLoop(ctx: Context, tell: () => void): Promise<void> {
  for await (const _chunk of ctx.req) tell();
}

async function* told(tell: () => void): AsyncGenerator<string> {
  for (let chunk = 0; chunk < 40; chunk++) {
    tell();
    yield "a".repeat(65_536);
  }
}
