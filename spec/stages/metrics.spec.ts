/** The metrics stage counts each request once, by its method and its status. */
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { Application } from "../../lib/app/application.js";
import type { Context } from "../../lib/http/request/context.js";
import { NotFoundError, UnavailableError } from "../../lib/errors/framework-error.js";
import type { Middleware } from "../../lib/http/middleware.js";
import {
  DEFAULT_BUCKETS,
  HTTP_REQUEST_DURATION,
  HTTP_REQUESTS_TOTAL,
  Metrics,
} from "../../lib/observe/metrics/metrics.js";
import { MetricsError } from "../../lib/observe/errors.js";
import { MetricsLayer } from "../../lib/stages/metrics.js";
import { expectExposition } from "../../lib/testing/expect-exposition.js";
import { Route } from "../../lib/routing/route.js";
import { Routes } from "../../lib/routing/routes.js";
import { RouteGroup } from "../../lib/routing/route-group.js";
import { RateLimit } from "../../lib/stages/rate-limit/rate-limit.js";
import { testApp } from "../../lib/testing/test-app.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { obeysLayerContract } from "../../lib/testing/contracts/obeys-layer-contract.js";
import { Conversation } from "../support/conversation.js";
import { errorOf } from "../support/error-of.js";
import { Gate } from "../support/gate.js";
import { Stack } from "../support/stack.js";
import { until } from "../support/until.js";
import { startupErrorOf } from "../support/startup-error-of.js";

const HANDLER_RESULTS: readonly (readonly [string, number, (ctx: Context) => unknown])[] = [
  ["a text", 200, () => "hello"],
  ["nothing", 204, () => undefined],
  ["a custom status", 299, (ctx) => ((ctx.status = 299), "fine")],
  ["a stream", 200, () => Readable.from(["a", "b"])],
  ["an error with a status", 404, () => Promise.reject(new NotFoundError("no"))],
  ["an error of ctx.throw", 409, (ctx) => ctx.throw(409, "taken")],
  ["a failure of the server", 503, () => Promise.reject(new UnavailableError())],
  ["an unhandled error", 500, () => Promise.reject(new Error("boom"))],
  ["a write by hand", 202, (ctx) => void ctx.res.writeHead(202).end("by hand")],
];

async function* failing(): AsyncGenerator<string> {
  yield "a".repeat(100_000);
  await pause(5);
  throw new Error("the disk is gone");
}

/** The samples of one metric, without help and type. */
function samples(metrics: Metrics, name: string): string[] {
  return metrics
    .render()
    .split("\n")
    .filter((line) => line.startsWith(name));
}

describe("MetricsLayer", () => {
  it("obeys the layer contract", () => obeysLayerContract(new MetricsLayer(new Metrics())));

  it("describes both metrics when it is constructed", () => {
    const metrics = new Metrics();

    const layer = new MetricsLayer(metrics);

    expect(layer).to.be.instanceOf(MetricsLayer);
    expect(metrics.render()).to.equal(
      "# HELP http_request_duration_seconds HTTP request duration in seconds.\n" +
        "# TYPE http_request_duration_seconds histogram\n" +
        "# HELP http_requests_total Total HTTP requests handled.\n" +
        "# TYPE http_requests_total counter\n",
    );
  });

  for (const [what, status, handler] of HANDLER_RESULTS) {
    it(`counts ${what} as ${status} where it stands as a layer of the application`, async () => {
      const metrics = new Metrics();
      const routes = new Routes([Route.get("/", handler)]);
      const layer = MetricsLayer.labelled(metrics, "/");
      await using app = await testApp(Application.create().routes(routes).layer(layer));

      const answer = await app.get("/");

      expect(answer.status).to.equal(status);
      expect(samples(metrics, HTTP_REQUESTS_TOTAL)).to.deep.equal([
        `http_requests_total{method="GET",route="/",status="${status}"} 1`,
      ]);
    });

    it(`counts ${what} as ${status}, once`, async () => {
      const metrics = new Metrics();
      await using stack = await Stack.of([new MetricsLayer(metrics)], handler);

      const answer = await stack.ask("/some/path?with=query");

      expect(answer.status).to.equal(status);
      expect(samples(metrics, HTTP_REQUESTS_TOTAL)).to.deep.equal([
        `http_requests_total{method="GET",status="${status}"} 1`,
      ]);
      expect(samples(metrics, `${HTTP_REQUEST_DURATION}_count`)).to.deep.equal([
        'http_request_duration_seconds_count{method="GET"} 1',
      ]);
    });
  }

  it("counts by the method of the client and by status", async () => {
    const metrics = new Metrics();
    await using stack = await Stack.of([new MetricsLayer(metrics)], (ctx) => {
      ctx.status = ctx.path === "/made" ? 201 : 200;
      ctx.method = "OVERRIDDEN";
    });

    for (const [method, path] of [
      ["GET", "/"],
      ["GET", "/x"],
      ["HEAD", "/"],
      ["POST", "/made"],
      ["PROPFIND", "/"],
    ] as const)
      await stack.ask(path, { method });

    expect(samples(metrics, HTTP_REQUESTS_TOTAL)).to.deep.equal([
      'http_requests_total{method="GET",status="200"} 2',
      'http_requests_total{method="HEAD",status="200"} 1',
      'http_requests_total{method="POST",status="201"} 1',
      'http_requests_total{method="PROPFIND",status="200"} 1',
    ]);
    expectExposition(metrics.render());
  });

  it("takes no label from the path, the query or the headers of a request", async () => {
    const metrics = new Metrics();
    await using stack = await Stack.of([new MetricsLayer(metrics)], () => "hello");

    for (let at = 0; at < 50; at++) {
      await stack.ask(`/scan/${at}?q=${at}`, { headers: { "user-agent": `scanner ${at}`, host: `host-${at}` } });
    }

    expect(samples(metrics, HTTP_REQUESTS_TOTAL)).to.deep.equal(['http_requests_total{method="GET",status="200"} 50']);
  });

  it("measures the seconds until the response is decided", async () => {
    const metrics = new Metrics();
    const clock = new FakeClock();
    const slowBody = async function* () {
      yield "a";
      // A stream reads ahead, so the rest comes later than the response.
      await pause(30);
      clock.advance(60_000);
      yield "b";
    };
    await using stack = await Stack.of(
      [new MetricsLayer(metrics)],
      () => (clock.advance(30), Readable.from(slowBody())),
      clock,
    );

    await stack.ask();

    const counts = [...DEFAULT_BUCKETS, "+Inf"].map((bound) => (Number(bound) < 0.03 ? 0 : 1));
    const buckets = samples(metrics, `${HTTP_REQUEST_DURATION}_bucket`);
    expect(buckets.map((line) => Number(line.split(" ").at(-1)))).to.deep.equal(counts);
    expect(samples(metrics, `${HTTP_REQUEST_DURATION}_sum`)).to.deep.equal([
      'http_request_duration_seconds_sum{method="GET"} 0.03',
    ]);
  });

  it("counts a client that leaves as 499, once", async () => {
    const metrics = new Metrics();
    const [begun, leave] = [new Gate(), new Gate()];
    await using stack = await Stack.of([new MetricsLayer(metrics)], () => (begun.open(), leave.passed));
    await using client = await Conversation.with(stack.port);
    client.say("GET / HTTP/1.1\r\nHost: spec\r\n\r\n");
    await begun.passed;

    client.socket.destroy();
    await until(() => samples(metrics, HTTP_REQUESTS_TOTAL).length > 0);
    leave.open();
    await pause(10);

    expect(samples(metrics, HTTP_REQUESTS_TOTAL)).to.deep.equal(['http_requests_total{method="GET",status="499"} 1']);
  });

  it("does not count a second time when the body fails after the head", async () => {
    const metrics = new Metrics();
    await using stack = await Stack.of([new MetricsLayer(metrics)], () => Readable.from(failing()));

    const outcome = await stack.ask().catch((error: unknown) => error);

    expect(outcome).to.be.instanceOf(Error);
    expect(samples(metrics, HTTP_REQUESTS_TOTAL)).to.deep.equal(['http_requests_total{method="GET",status="200"} 1']);
  });

  describe("with { route: true }", () => {
    const routes = new Routes([
      Route.get("/links/{id}", ({ params }: Context<"id">) =>
        params.id === "0" ? Promise.reject(new NotFoundError("no")) : "a link",
      ),
      Route.post("/links/{id}", () => "changed"),
    ]);
    const application = (metrics: Metrics) =>
      Application.create().routes(routes).metrics(metrics, { route: true }).rateLimit(RateLimit.perHour(6));

    it("labels both metrics with the template of the route, and with none where no route matched or a stage refused", async () => {
      const metrics = new Metrics();
      await using app = await testApp(application(metrics));

      for (const path of ["/links/7", "/links/8", "/links/0", "/nothing", "/elsewhere"]) await app.get(path);
      for (let count = 0; count < 2; count++) await app.post("/links/7");

      expect(samples(metrics, HTTP_REQUESTS_TOTAL)).to.deep.equal([
        'http_requests_total{method="GET",route="/links/{id}",status="200"} 2',
        'http_requests_total{method="GET",route="/links/{id}",status="404"} 1',
        'http_requests_total{method="GET",route="none",status="404"} 2',
        'http_requests_total{method="POST",route="/links/{id}",status="200"} 1',
        'http_requests_total{method="POST",route="none",status="429"} 1',
      ]);
      expect(samples(metrics, `${HTTP_REQUEST_DURATION}_count`)).to.deep.equal([
        'http_request_duration_seconds_count{method="GET",route="/links/{id}"} 3',
        'http_request_duration_seconds_count{method="GET",route="none"} 2',
        'http_request_duration_seconds_count{method="POST",route="/links/{id}"} 1',
        'http_request_duration_seconds_count{method="POST",route="none"} 1',
      ]);
      expectExposition(metrics.render());
    });

    it("includes the prefixes of groups, and never the path of a request", async () => {
      const metrics = new Metrics();
      const grouped = new Routes([new RouteGroup("/admin", [Route.get("/users/{name}", () => "a user")])]);
      await using app = await testApp(Application.create().routes(grouped).metrics(metrics, { route: true }));

      await app.get("/admin/users/secret");

      expect(metrics.render()).to.contain('route="/admin/users/{name}"').and.not.contain("secret");
    });
  });

  describe("labelled", () => {
    it("adds the route to both metrics", async () => {
      const metrics = new Metrics();
      await using stack = await Stack.of([MetricsLayer.labelled(metrics, "/links/{id}")], () => "hello");

      await stack.ask("/links/7");

      expect(
        metrics.counterValue(HTTP_REQUESTS_TOTAL, { route: "/links/{id}", status: "200", method: "GET" }),
      ).to.equal(1);
      expect(samples(metrics, `${HTTP_REQUEST_DURATION}_count`)).to.deep.equal([
        'http_request_duration_seconds_count{method="GET",route="/links/{id}"} 1',
      ]);
    });

    it("refuses a route without a leading slash", () => {
      for (const route of ["links", "", "*", "http://example.com/"]) {
        const error = errorOf(() => MetricsLayer.labelled(new Metrics(), route));

        expect(error).to.be.instanceOf(MetricsError);
        expect(error).to.include({ code: "E_METRIC_LABEL" });
        expect(error.message).to.contain(JSON.stringify(route));
      }
    });

    it("shares its series with other layers of the same registry and route", async () => {
      const metrics = new Metrics();
      const layers = ["/a", "/a", "/b"].map((route) => MetricsLayer.labelled(metrics, route));
      await using stack = await Stack.of(layers, () => "hello");

      await stack.ask();

      expect(samples(metrics, HTTP_REQUESTS_TOTAL)).to.deep.equal([
        'http_requests_total{method="GET",route="/a",status="200"} 2',
        'http_requests_total{method="GET",route="/b",status="200"} 1',
      ]);
    });
  });

  it("counts the samples that the registry drops at its cap", async () => {
    const metrics = new Metrics({ maxSeries: 1 });
    await using stack = await Stack.of([new MetricsLayer(metrics)], () => "hello");

    await stack.ask();
    for (const method of ["POST", "PUT", "PUT"]) await stack.ask("/", { method });

    expect(samples(metrics, HTTP_REQUESTS_TOTAL)).to.deep.equal(['http_requests_total{method="GET",status="200"} 1']);
    const lost = (metric: string) => metrics.counterValue("framework_metrics_overflow_total", { metric });
    expect([lost(HTTP_REQUESTS_TOTAL), lost(HTTP_REQUEST_DURATION)]).to.deep.equal([3, 3]);
  });

  it("remembers at most as many invented methods as the registry", async () => {
    const metrics = new Metrics({ maxSeries: 10 });
    let turn = 0;
    const override: Middleware = { handle: (ctx, next) => ((ctx.method = `M${turn++}`), next()) };
    const layer = new MetricsLayer(metrics);
    await using stack = await Stack.of([override, layer], () => "hello");

    for (let at = 0; at < 30; at++) await stack.ask();

    expect(samples(metrics, HTTP_REQUESTS_TOTAL)).to.have.length(10);
    expect(metrics.counterValue("framework_metrics_overflow_total", { metric: HTTP_REQUESTS_TOTAL })).to.equal(20);
  });

  it("is refused at the start when another kind of metric has its name", () => {
    const metrics = new Metrics();
    metrics.set(HTTP_REQUESTS_TOTAL, {}, 1);

    const error = startupErrorOf(() => Application.create().metrics(metrics).build());

    expect(error.message).to.contain("E_METRIC_KIND").and.to.contain(".metrics(…)");
  });
});
