/**
 * A canary in every header, cookie, query and body, through every stage and every error. The specs search for it in the events before
 * redaction, in the lines of both formats, in spans, in metrics, and in heads and bodies of responses. The handlers here log nothing of their
 * input, so any finding comes from the framework.
 */
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  ForbiddenError,
  Maintenance,
  ProxyAction,
  RateLimit,
  redirect,
  Route,
  Routes,
  SecurityHeaders,
  UnauthorizedError,
  UnavailableError,
  type ApplicationBuilder,
  type Context,
} from "../../lib/entries/main.js";
import { tracing } from "../../lib/tracing/tracing.js";
import { CaptureSink, ConsoleLog, JsonLog, Metrics } from "../../lib/entries/observe.js";
import { createRawRequests, createCanaryRequests, formatBasicCredentials } from "../../lib/testing/expect-no-leak.js";
import { expectLogLine } from "../../lib/testing/expect-log-line.js";
import { rawExchange } from "../../lib/testing/raw-exchange.js";
import { Transport } from "../../lib/testing/transport.js";
import { Conversation } from "../support/conversation.js";
import { until } from "../support/until.js";
import { withObservability } from "../support/with-observability.js";
import { TracingRecorder } from "../support/tracing-recorder.js";

const CANARY = "canary4711secret";
// A busy machine may pause for seconds.
const RESPONSE_MS = 15_000;
const ACCESS = "framework::observe::access_log";

const Login = z.object({ name: z.string().max(3), age: z.number(), site: z.url() });

const routes = new Routes([
  Route.any("/json", async (ctx: Context) => (await ctx.json(), "read")),
  Route.any("/login", async (ctx: Context) => (await ctx.json(Login), "in")),
  Route.any("/form", async (ctx: Context) => (await ctx.form(Login), "in")),
  Route.any("/search", async (ctx: Context) => (await ctx.search(Login), "found")),
  Route.any("/text", async (ctx: Context) => (await ctx.text(), "read")),
  Route.any("/koa", koaWay),
  Route.any("/back", () => redirect().to("/text").with("notice", "done")),
  Route.get("/home", () => redirect().back()),
  Route.get("/nothing", () => undefined),
  Route.any("/stranger", () => Promise.reject(new UnauthorizedError("who?", { challenge: "Bearer" }))),
  Route.any("/forbidden", () => Promise.reject(new ForbiddenError("not you"))),
  Route.any("/broken", () => Promise.reject(new UnavailableError("not now", { cause: new Error("upstream") }))),
  Route.any("/panic", () => Promise.reject(new TypeError("boom"))),
  Route.any("/unsayable", () => ({ big: 1n })),
  Route.any("/twice", (ctx: Context) => (ctx.set("X-Bad", "a\nb"), "never")),
  Route.any("/failing", () => Readable.from(failingBody())),
  Route.any("/by-hand", (ctx: Context) => void ctx.res.writeHead(200).end("by hand")),
]);

/** All members that middleware written for Koa reads. */
async function koaWay(ctx: Context): Promise<void> {
  const { ip, ips, host, hostname, protocol, secure, query, querystring, header } = ctx;
  const seen = [ip, ips, host, hostname, protocol, secure, query, querystring, header, ctx.cookies.get("id")];
  const negotiated = [ctx.accepts("json"), ctx.acceptsLanguages("en"), ctx.is("json"), ctx.fresh, ctx.subdomains];
  await ctx.text();
  ctx.body = String(seen.length + negotiated.length);
}

async function* failingBody(): AsyncGenerator<string> {
  yield "a".repeat(100_000);
  await pause(1);
  throw new Error("the disk is gone");
}

function everything(): ApplicationBuilder {
  return withObservability(Application.create())
    .routes(routes)
    .trustedProxies("127.0.0.1")
    .proxy(() => ProxyAction.continue())
    .compression()
    .securityHeaders(new SecurityHeaders().withHsts().withCspNonce("script-src 'nonce-{nonce}'"))
    .cors({ origins: ["https://shop.example"] })
    .bodyLimit(1_000_000);
}

const slow = new Routes([
  Route.any("/never", () => new Promise(() => {})),
  Route.any("/reading", async (ctx: Context) => (await ctx.text(), await pause(50), "late")),
  Route.any("/late", async () => {
    await pause(10);
    throw new Error("too late");
  }),
]);

const byCredentials = RateLimit.perHour(0).by((ctx) => ctx.get("x-api-key") || ctx.get("authorization"));

/** Applications in every state, with the statuses that must occur, or the search would prove nothing. */
const CONDITIONS: readonly (readonly [string, () => ApplicationBuilder, readonly number[]])[] = [
  ["with every stage on", everything, [200, 204, 302, 303, 400, 401, 403, 404, 405, 413, 415, 422, 500, 503]],
  ["closed for maintenance", () => everything().maintenance(Maintenance.engaged()), [503]],
  ["with its quota used up", () => everything().rateLimit(byCredentials), [429]],
  ["with handlers that take too long", () => everything().routes(slow).timeout(5), [200, 404, 408]],
  [
    "without a stage that responds to a panic",
    () => Application.create().routes(routes).requestId().traceContext().accessLog().metrics(),
    [200, 400, 404, 413, 415, 422, 500],
  ],
];

/** Names a response that does not end. */
async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  const limit = pause(2 * RESPONSE_MS, undefined, { ref: false }).then(() =>
    Promise.reject(new Error(`${what} never came`)),
  );
  return Promise.race([promise, limit]);
}

/** A serving application with all its events, lines, spans and metrics. */
class Haunted implements AsyncDisposable {
  readonly witness = new TracingRecorder();
  readonly json = new CaptureSink();
  readonly text = new CaptureSink();
  readonly responses: string[] = [];
  readonly metrics: Metrics;
  private readonly application;
  private readonly listener = this.run(() => net.createServer().listen(0, "127.0.0.1"));
  private readonly running;

  private constructor(builder: ApplicationBuilder) {
    this.application = this.run(() => builder.lifecycle({ drainDelayMs: 0, drainDeadlineMs: 100 }).build());
    this.metrics = this.application.resolve(Metrics);
    this.running = this.run(() => this.application.serve(this.listener));
  }

  static async by(builder: ApplicationBuilder): Promise<Haunted> {
    const haunted = new Haunted(builder);
    if (!haunted.listener.listening) await once(haunted.listener, "listening");
    await haunted.running;
    return haunted;
  }

  get port(): number {
    // A listening TCP server has an address of this kind.
    return (this.listener.address() as AddressInfo).port;
  }

  /** Sends every request with the canary at every place, and collects all responses: heads and bodies, of successes too. */
  async ask(): Promise<void> {
    const transport = new Transport(this.port);
    for (const { method, path, options } of createCanaryRequests(CANARY, this.application.routes().descriptors())) {
      const signal = AbortSignal.timeout(RESPONSE_MS);
      const asked = `${method} ${path} with ${Object.keys(options).join()}`;
      const response = await inTime(transport.send(method, path, { ...options, signal }), asked);
      const body = await inTime(
        response.text().catch(() => "cut off"),
        `the body of ${asked}`,
      );
      this.responses.push(`${response.status} ${inspect([...response.headers])} ${body}`);
    }
    for (const bytes of createRawRequests(CANARY)) {
      this.responses.push(String(await rawExchange(this.port, bytes, { quietMs: 20 })));
    }
  }

  /** The searched places that hold the canary. */
  found(): readonly string[] {
    const { witness, json, text, metrics, responses } = this;
    const fields = witness.spans.map((span) => inspect(span.fields, { depth: null }));
    const events = witness.events.map((event) => inspect(event, { depth: null }));
    const places = [...events, ...fields, ...json.lines(), ...text.lines(), metrics.render(), ...responses];
    return places.filter(
      (place) => place.toLowerCase().includes(CANARY) || place.includes(formatBasicCredentials(CANARY)),
    );
  }

  statuses(): ReadonlySet<unknown> {
    return new Set(this.witness.from(ACCESS).map(({ fields }) => fields["status"]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run(async () => (await this.running).stop());
  }

  private run<T>(fn: () => T): T {
    const layers = tracing.registry().with(this.witness).with(new JsonLog(this.json)).with(new ConsoleLog(this.text));
    return tracing.withSubscriber(layers, fn);
  }
}

describe("a secret in a request", function () {
  this.timeout(240_000);
  this.slow(5000);

  for (const [condition, builder, statuses] of CONDITIONS) {
    it(`appears nowhere, the application ${condition}`, async () => {
      await using haunted = await Haunted.by(builder());

      await haunted.ask();

      expect(haunted.found()).to.deep.equal([]);
      expect([...haunted.statuses()]).to.include.members([...statuses]);
      expect(haunted.witness.events.length).to.be.above(haunted.responses.length / 2);
      for (const line of haunted.json.lines()) expectLogLine(line);
    });
  }

  it("appears nowhere where the client leaves in the middle of the body", async () => {
    await using haunted = await Haunted.by(everything());
    const head = `POST /login?token=${CANARY} HTTP/1.1\r\nHost: x\r\nCookie: id=${CANARY}\r\nContent-Type: application/json\r\n`;

    for (const rest of ["Content-Length: 500\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1f4\r\n"]) {
      await using client = await Conversation.with(haunted.port);
      client.say(`${head}${rest}{"name":"${CANARY}`);
      await pause(20);
      client.socket.destroy();
    }
    await until(() => haunted.witness.from(ACCESS).length === 2);

    expect([...haunted.statuses()]).to.deep.equal([499]);
    expect(haunted.found()).to.deep.equal([]);
  });

  it("appears nowhere where the drain ends the request", async () => {
    const haunted = await Haunted.by(everything().routes(slow));
    await using client = await Conversation.with(haunted.port);
    client.say(`GET /never?token=${CANARY} HTTP/1.1\r\nHost: x\r\nCookie: id=${CANARY}\r\n\r\n`);
    await until(() => haunted.witness.spans.length > 0);

    await haunted[Symbol.asyncDispose]();

    await until(() => haunted.statuses().size > 0);
    expect([...haunted.statuses()]).to.deep.equal([499]);
    expect(haunted.witness.events.map(({ message }) => message)).to.include("drain deadline reached");
    expect(haunted.found()).to.deep.equal([]);
  });

  it("is found where a handler logs it under a harmless name, which shows that the search works", async () => {
    const log = tracing.target("shop");
    const telling = new Routes([Route.get("/tell", (ctx: Context) => log.info("told", { note: ctx.get("x-canary") }))]);
    await using haunted = await Haunted.by(withObservability(Application.create()).routes(telling));

    await haunted.ask();

    expect(haunted.found()).to.have.length.above(2);
  });
});
