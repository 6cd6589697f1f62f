/** A head that cannot be written: client, access line and counter see the same status. */
import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { CatchPanicLayer } from "../../../lib/stages/catch-panic.js";
import { ErrorMapping, type ErrorMapper } from "../../../lib/stages/error-mapping.js";
import type { Context } from "../../../lib/http/request/context.js";
import { Problem } from "../../../lib/errors/problem.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { AccessLogLayer } from "../../../lib/stages/access-log.js";
import { MetricsLayer } from "../../../lib/stages/metrics.js";
import { HTTP_REQUESTS_TOTAL, Metrics } from "../../../lib/observe/metrics/metrics.js";
import { errorOf } from "../../support/error-of.js";
import { Stack } from "../../support/stack.js";
import { TracingRecorder } from "../../support/tracing-recorder.js";

type Handler = (ctx: Context) => unknown;

const UNSENDABLE: readonly (readonly [string, Handler])[] = [
  ["a reply with status 0", () => Reply.text("x", 0)],
  ["a reply with NaN as its status", () => Reply.text("x", Number.NaN)],
  ["a reply with status 99", () => Reply.json("x", 99)],
  ["a reply with status 600", () => Reply.html("x", 600)],
  ["a reply with status 1000", () => Reply.of("x", "text/plain", 1000)],
  ["a reply with a fraction as its status", () => Reply.text("x").status(200.5)],
  ["an empty reply with status 103", () => Reply.empty(103)],
  ["an empty reply with status 100", () => Reply.empty(100)],
  ["an empty reply with status 101", () => Reply.empty(101)],
  ["a problem without a status", () => Reply.problem(Problem.of(0))],
  ["a fetch Response that is an error", () => Response.error()],
  ["a media type with a letter that no head may have", () => Reply.of("x", "text/html; title=中")],
  ["a media type with a line break", () => Reply.of("x", "text/html\r\nX-Evil: 1")],
  ["a header with a letter that no head may have", () => Reply.text("x").header("X-Title", "中")],
  ["a header with a line break", () => Reply.text("x").header("X-Title", "a\r\nb")],
  ["a header with an invalid name", () => Reply.text("x").header("X Title", "a")],
  ["a status of 0 written by hand", (ctx) => ((ctx.body = "x"), void (ctx.res.statusCode = 0))],
  ["a status of 103 written by hand", (ctx) => ((ctx.body = "x"), void (ctx.res.statusCode = 103))],
  ["a status of 700 written by hand", (ctx) => ((ctx.body = "x"), void (ctx.res.statusCode = 700))],
  ["a reason with a line break written by hand", ({ res }) => ((res.statusMessage = "a\r\nb"), "x")],
  ["a reason with a line break written to Koa's response", (ctx) => ((ctx.response.message = "a\r\nb"), "x")],
  ["a head of status 1000", ({ res }) => void res.writeHead(1000).end("x")],
  ["a head with a line break in its reason", ({ res }) => void res.writeHead(200, "a\r\nb").end("x")],
  ["an end by hand under status 0", ({ res }) => ((res.statusCode = 0), void res.end("x"))],
];

/** Takes the response over, as in Koa, and writes it after all stages have ended. */
function later(act: (res: ServerResponse) => void): Handler {
  return (ctx) => {
    ctx.respond = false;
    setImmediate(act, ctx.res);
  };
}

/** The response of a handler as the client, the access log and the counter see it, and the other events. */
async function observe(handler: Handler, mapper: ErrorMapper = () => undefined) {
  const witness = new TracingRecorder();
  const metrics = new Metrics();
  const outer = [new AccessLogLayer(), new MetricsLayer(metrics), new CatchPanicLayer()];
  const layers = [...outer, new ErrorMapping().using(mapper)];
  await using stack = await witness.run(() => Stack.of(layers, handler));

  const response = await stack.ask();

  const lines = witness.from("framework::observe::access_log").map(({ fields }) => fields["status"]);
  const { status } = response;
  const counted = metrics.counterValue(HTTP_REQUESTS_TOTAL, { method: "GET", status: String(status) });
  const others = witness.events.filter(({ target }) => target !== "framework::observe::access_log");
  return { response, lines, counted, events: others.map(({ level, message }) => `${level} ${message}`) };
}

describe("a head that cannot be written", () => {
  for (const [what, handler] of UNSENDABLE) {
    it(`is an unhandled error, logged and counted as 500: ${what}`, async () => {
      const { response, lines, counted, events } = await observe(handler);

      expect(response.status).to.equal(500);
      expect(response.headers["content-type"]).to.equal("application/problem+json");
      expect(lines).to.deep.equal([500]);
      expect(counted).to.equal(1);
      expect(events).to.deep.equal(["ERROR panic"]);
    });
  }

  for (const [what, mapper] of [
    ["status", () => Reply.html("page", 700)],
    ["media type", () => Reply.of("page", "text/html\n")],
    ["header", () => Reply.html("page").header("X-A", "中")],
  ] as const) {
    it(`is reported for the ${what} of an error mapper, and the response stays`, async () => {
      const { response, lines, counted, events } = await observe((ctx) => void (ctx.status = 418), mapper);

      expect([response.status, JSON.parse(response.text)]).to.deep.equal([418, Problem.of(418).toJSON()]);
      expect(lines).to.deep.equal([418]);
      expect(counted).to.equal(1);
      expect(events).to.deep.equal(["ERROR error mapper failed"]);
    });
  }

  it("is not the response if the handler writes another head afterwards", async () => {
    const refused: Error[] = [];
    const { response, lines, counted } = await observe(
      later((res) => {
        refused.push(errorOf(() => res.writeHead(1000)));
        refused.push(errorOf(() => res.writeHead(200, "a\r\nb")));
        res.writeHead(502).end("by hand");
      }),
    );

    expect(refused.map(({ name }) => name)).to.deep.equal(["RangeError", "TypeError"]);
    expect([response.status, response.text]).to.deep.equal([502, "by hand"]);
    expect(lines).to.deep.equal([502]);
    expect(counted).to.equal(1);
  });

  it("is logged with the status that Node sends instead", async () => {
    const { response, lines } = await observe(later((res) => void res.writeHead(202.9).end()));

    expect(response.status).to.equal(202);
    expect(lines).to.deep.equal([202]);
  });

  it("does not prevent responses to later requests of its connection", async () => {
    await using stack = await Stack.of([], ({ path }) => (path === "/next" ? "next" : Reply.empty(103)));

    const received = await stack.raw(
      "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );

    expect(received.match(/HTTP\/1.1 \d+/g)).to.deep.equal(["HTTP/1.1 500", "HTTP/1.1 200"]);
  });
});
