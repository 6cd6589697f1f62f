/** The status of a timeout: 408 says that the request did not arrive, 503 that the server was slow. */
import { once } from "node:events";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect } from "chai";
import { Application, FrameworkError, Route, Routes, type Context } from "@stagecraft/framework";
import { testApp, FakeClock } from "@stagecraft/framework/testing";
import { compose } from "../../lib/http/compose.js";
import { respondWith } from "../../lib/http/response/returned-value.js";
import { TimeoutLayer } from "../../lib/stages/timeout.js";
import { Conversation } from "../support/conversation.js";
import { eventsOf } from "../support/events-of.js";
import { Stack } from "../support/stack.js";
import { until } from "../support/until.js";

const LIMIT_MS = 5000;
const PROBLEM =
  '{"type":"urn:framework:problem:unavailable","title":"Service unavailable","status":503,"detail":"The server took too long to respond."}';

/** The response, after the `100 Continue` of a body that was asked for. */
const RESPONSE = /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (?:408|503) [^]*\r\n\r\n/;

const forever = (): Promise<never> => new Promise(() => {});

/** Sends `request` to a handler that never responds, lets the time run out once `isReady`, and returns the text of the response. */
async function timedOut(layer: TimeoutLayer, request: string, handler: (ctx: Context) => unknown): Promise<string> {
  const clock = new FakeClock();
  let seen: Context | undefined;
  const noted = async (ctx: Context): Promise<unknown> => {
    seen = ctx;
    return handler(ctx);
  };
  await using stack = await Stack.of([layer], noted, clock);
  await using client = await Conversation.with(stack.port);
  client.say(request);
  await until(() => seen !== undefined);
  await until(() => seen?.connection.socket.bytesRead === request.length);
  // The handler reads the arrived bytes in the next iterations of the event loop.
  await client.quiet(0);
  clock.advance(LIMIT_MS);
  return await client.hear(RESPONSE);
}

/** As a route's middleware stands: inside the stage. */
function routed(layer: TimeoutLayer): (ctx: Context) => unknown {
  return compose([layer], async (ctx) => respondWith(ctx, await forever()));
}

const HEAD = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nContent-Type: text/plain\r\n";
const HALF = `${HEAD}\r\nhalf `;
const WHOLE = `${HEAD}\r\n1234567890`;

/** Takes no chunk after the first one. */
const stuck = (): Writable => new Writable({ highWaterMark: 1, write() {} });

const rows: readonly (readonly [string, string, (ctx: Context) => unknown, 408 | 503])[] = [
  ["no body", "POST / HTTP/1.1\r\nHost: a\r\n\r\n", forever, 503],
  ["a whole body that nothing reads", WHOLE, forever, 503],
  ["half a body that nothing reads", HALF, forever, 503],
  ["half a body of which nothing but the head has come", `${HEAD}\r\n`, forever, 503],
  ["a body for which the client waits to be asked", `${HEAD}Expect: 100-continue\r\n\r\n`, forever, 503],
  ["a whole body that was read", WHOLE, (ctx) => ctx.text().then(forever), 503],
  ["half a body that is discarded", HALF, (ctx) => (ctx.req.resume(), forever()), 503],
  ["half a body whose reader holds back the client", HALF, (ctx) => pipeline(ctx.req, stuck()), 503],
  ["half a body for which ctx.text waits", HALF, (ctx) => ctx.text(), 408],
  ["half a body for which ctx.bytes waits", HALF, (ctx) => ctx.bytes(), 408],
  ["a chunked body for which ctx.text waits", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", (ctx) => ctx.text(), 408], // prettier-ignore
  ["a body that was asked for and does not come", `${HEAD}Expect: 100-continue\r\n\r\n`, (ctx) => ctx.text(), 408],
  ["half a body for which an iteration waits", HALF, async ({ req }) => { for await (const _ of req); }, 408], // prettier-ignore
  [
    "half a body for which a listener waits",
    HALF,
    ({ req }) =>
      once(
        req.on("data", () => {}),
        "end",
      ),
    408,
  ],
  ["half a body for which a pipeline waits", HALF, ({ req }) => pipeline(req, new Writable({ write: (_1, _2, done) => done() })), 408], // prettier-ignore
];

describe("a timeout with the status 503", () => {
  it("responds with Retry-After and the problem `unavailable`", async () => {
    const response = await timedOut(
      new TimeoutLayer(LIMIT_MS, { status: 503 }),
      "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      forever,
    );

    expect(response).to.match(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
    expect(response).to.contain("Retry-After: 1\r\n").and.to.contain(PROBLEM);
  });

  it("aborts the signal with an error of that status", async () => {
    let reason: unknown;
    const handler = async ({ signal }: Context): Promise<void> => {
      await once(signal, "abort");
      reason = signal.reason;
    };
    await timedOut(new TimeoutLayer(LIMIT_MS, { status: 503 }), "GET / HTTP/1.1\r\nHost: a\r\n\r\n", handler);
    await until(() => reason !== undefined);

    expect(reason).to.be.instanceOf(FrameworkError).and.to.include({ code: "E_TIMEOUT", status: 503 });
  });

  for (const [what, request, handler, status] of rows) {
    it(`responds with ${status} to ${what}`, async () => {
      const response = await timedOut(new TimeoutLayer(LIMIT_MS, { status: 503 }), request, handler);

      expect(response).to.contain(`HTTP/1.1 ${status} `);
    });
  }

  it("passes its status to a timeout on a route, which may set another one", async () => {
    const statuses: number[] = [];
    for (const inner of [new TimeoutLayer(100), new TimeoutLayer(100, { status: 408 })]) {
      const clock = new FakeClock();
      await using stack = await Stack.of([new TimeoutLayer(LIMIT_MS, { status: 503 })], routed(inner), clock);
      const asking = stack.ask();
      await until(() => clock.pending === 2);
      clock.advance(100);
      statuses.push((await asking).status);
    }

    expect(statuses).to.deep.equal([503, 408]);
  });
});

describe("a handler that times out", () => {
  for (const [title, timeout, status] of [
    ["by default", {}, 408],
    ["with the status 503", { status: 503 }, 503],
  ] as const) {
    it(`is emitted to the listeners of Koa, ${title}`, async () => {
      const told: unknown[] = [];
      const builder = Application.create()
        .routes(new Routes([Route.post("/orders/{id}", forever)]))
        .timeout(1, timeout);
      builder.koa.on("error", (error) => told.push(error));
      await using app = await testApp(builder);

      expect((await app.post("/orders/7")).status).to.equal(status);

      expect(told).to.have.length(1);
      expect(told[0]).to.include({ code: "E_TIMEOUT", status });
    });
  }

  it("is a DEBUG event where the client was slow to send its body", async () => {
    const events = await eventsOf(() => timedOut(new TimeoutLayer(LIMIT_MS), HALF, (ctx) => ctx.text()));

    expect(events.filter((line) => line.includes("timeout"))).to.deep.equal([
      "DEBUG framework::http::timeout: request body timed out status=408 limit_ms=5000",
    ]);
  });
});
