/** The output of the sample for its operator: log lines, metrics and traces. */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { expectExposition, expectLogLine, testApp, type LogLine, type TestApp } from "@stagecraft/framework/testing";
import { linksApplication } from "../../samples/links/application.js";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { attributesOf, Collector, hex } from "../observe/otel/collector.js";
import { Child } from "../support/child.js";
import { judgeResponses } from "../support/judged-responses.js";
import { describeLinks } from "../support/sample-documents.js";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const MAIN = "../../samples/links/main.js";

const started = (environment: NodeJS.ProcessEnv = {}) => testApp(linksApplication(settingsFrom(environment)));

function lines(app: TestApp, target: string): readonly LogLine[] {
  return app.logs
    .lines()
    .map(expectLogLine)
    .filter((line) => line.target === target);
}

/** An upstream service: it records requests and responds to them. */
class Upstream implements AsyncDisposable {
  readonly asked: http.IncomingMessage[] = [];

  private constructor(private readonly server: http.Server) {}

  static async start(respond: http.RequestListener): Promise<Upstream> {
    const upstream = new Upstream(http.createServer());
    upstream.server.on("request", (request, response) => {
      upstream.asked.push(request);
      respond(request, response);
    });
    upstream.server.listen(0, "127.0.0.1");
    await once(upstream.server, "listening");
    return upstream;
  }

  get url(): string {
    // A listening TCP server has an address of this kind.
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/health`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, "close");
  }
}

describe("samples/links, observed", function () {
  this.timeout(120_000);
  judgeResponses(describeLinks);

  before(() => buildFrontEnd());

  it("logs a handler's event with the fields of its request, and the access line after it", async () => {
    await using app = await started();

    const response = await app.post("/api/links?token=canary", {
      json: { target: "https://example.com/", slug: "example" },
      headers: { "x-request-id": "abc", traceparent: TRACEPARENT, authorization: "Bearer of-a-program" },
    });

    expect(response.status).to.equal(201);
    const request = { request_id: "abc", method: "POST", path: "/api/links", client_ip: "127.0.0.1", trace_id: TRACE };
    const [created] = lines(app, "links::api");
    const [access] = lines(app, "framework::observe::access_log");
    expect(created).to.deep.include({ level: "INFO", message: "link created" });
    expect(created?.fields).to.include({ ...request, slug: "example" });
    expect(access?.message).to.match(/^POST \/api\/links 201 \d+ms$/);
    expect(access?.fields).to.include({ ...request, status: 201 });
    expect(app.logs.transcript()).not.to.contain("canary");
  });

  it("shows its metrics to this machine", async () => {
    await using app = await started();
    await app.get("/about");
    await app.get("/nowhere");

    const response = await app.get("/metrics");
    const text = await response.text();

    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.equal("text/plain; version=0.0.4; charset=utf-8");
    expect(response.headers.get("cache-control")).to.equal("no-store");
    expectExposition(text);
    expect(text).to.contain('http_requests_total{method="GET",status="200"} 1\n');
    expect(text).to.contain('http_requests_total{method="GET",status="404"} 1\n');
  });

  it("responds with 404 for its metrics to other clients", async () => {
    await using app = await started({ METRICS_ALLOW: "203.0.113.7" });

    const [metrics, nowhere] = [await app.get("/metrics"), await app.get("/nowhere")];

    expect(metrics.status).to.equal(404);
    expect(await metrics.text()).to.equal(await nowhere.text());
  });

  const allowed: readonly (readonly [string, string, number])[] = [
    ["10.0.0.0/8", "10.255.0.1", 200],
    ["10.0.0.0/8", "11.0.0.1", 404],
    ["192.0.2.7, 10.1.2.128/25", "10.1.2.255", 200],
    ["192.0.2.7, 10.1.2.128/25", "10.1.2.127", 404],
    ["192.0.2.7, 10.1.2.128/25", "192.0.2.7", 200],
    ["::ffff:10.0.0.7", "10.0.0.7", 200],
    ["fd00::/8", "fd12::1", 200],
    ["fd00::/8", "fe80::1", 404],
    ["fd00::/8", "10.0.0.7", 404],
    ["0.0.0.0/0", "fd12::1", 404],
  ];
  for (const [list, client, status] of allowed) {
    it(`responds with ${status} for metrics to ${client} where METRICS_ALLOW is ${list}`, async () => {
      await using app = await started({ METRICS_ALLOW: list, TRUSTED_PROXIES: "127.0.0.1" });

      const response = await app.get("/metrics", { headers: { "x-forwarded-for": client } });

      expect(response.status).to.equal(status);
    });
  }

  it("takes the client address from a trusted proxy only", async () => {
    const headers = { "x-forwarded-for": "203.0.113.7" };
    await using behind = await started({ TRUSTED_PROXIES: "127.0.0.1" });
    await using open = await started();

    const responses = [await behind.get("/metrics", { headers }), await open.get("/metrics", { headers })];

    expect(responses.map(({ status }) => status)).to.deep.equal([404, 200]);
  });

  it("calls its upstream in the caller's trace, with a new span", async () => {
    await using upstream = await Upstream.start((_request, response) => response.writeHead(204).end());
    await using app = await started({ UPSTREAM_URL: upstream.url });

    const response = await app.get("/status", { headers: { traceparent: TRACEPARENT, tracestate: "vendor=1" } });

    expect(await response.json()).to.deep.equal({ upstream: 204 });
    const [asked] = upstream.asked;
    expect(asked?.headers["traceparent"]).to.match(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(asked?.headers["traceparent"]).not.to.equal(TRACEPARENT);
    expect(asked?.headers["tracestate"]).to.equal("vendor=1");
    expect([...response.headers.keys()]).not.to.include.members(["traceparent", "tracestate"]);
  });

  it("calls itself where no upstream is set, on any address and for any Host", async () => {
    await using app = await started();

    const response = await app.get("/status", { headers: { host: "upstream.invalid" } });

    expect([response.status, await response.json()]).to.deep.equal([200, { upstream: 200 }]);
  });

  it("follows no redirect of its upstream, and responds with 503 where the upstream is down", async () => {
    await using upstream = await Upstream.start((_request, response) =>
      response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    );
    await using app = await started({ UPSTREAM_URL: upstream.url });
    await using alone = await started({ UPSTREAM_URL: "http://127.0.0.1:1/" });

    const responses = [await app.get("/status"), await alone.get("/status")];

    expect(responses.map(({ status }) => status)).to.deep.equal([200, 503]);
    expect(await responses[0]?.json()).to.deep.equal({ upstream: 302 });
    expect(upstream.asked).to.have.length(1);
  });

  describe("as a process", function () {
    this.slow(3000);

    it("calls itself on the port of the environment, and writes plain text in a debug build", async () => {
      await using child = await Child.start(MAIN);
      await child.says("listening", "errors");

      const response = await fetch(`${child.url}/status`);
      await child.says("framework.request: GET /status 200 ", "errors");

      expect([response.status, await response.json()]).to.deep.equal([200, { upstream: 200 }]);
      expect(child.errors).to.match(/^\S+Z INFO framework::lifecycle: listening name=links url=\S+ at=\S+$/m);
      expect(child.errors).to.match(
        /^\S+Z INFO framework::observe::access_log: framework\.request: GET \/status 200 \d+ms /m,
      );
    });

    it("does not start with a malformed variable, and names it before anything listens", async () => {
      await using child = await Child.start(MAIN, { METRICS_ALLOW: "localhost", CORS_ORIGINS: "https://a.example/" });

      expect(await child.exitCode()).to.equal(1);
      expect(child.errors).to.include("the application cannot start: 2 faults");
      expect(child.errors).not.to.match(/listening|^ {4}at .*\.js/m);
    });

    describe("of a release build", () => {
      let collector: Collector;
      let child: Child;
      let code: number | null;

      // Once for all specs: a release build drains for five seconds.
      before(async () => {
        collector = await Collector.start();
        child = await Child.start(MAIN, {
          NODE_ENV: "production",
          SESSION_KEY: "5a".repeat(64),
          OTLP_ENDPOINT: collector.endpoint,
        });
        await child.says("listening", "errors");
        await fetch(`${child.url}/api/links`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer canary" },
          body: JSON.stringify({ target: "https://example.com/?token=canary" }),
        });
        await fetch(`${child.url}/about`, { headers: { traceparent: TRACEPARENT } });
        child.kill("SIGTERM");
        code = await child.exitCode();
      });
      after(async () => {
        collector.stop();
        await child?.[Symbol.asyncDispose]();
      });

      it("writes only JSON lines", () => {
        const all = child.errors.trimEnd().split("\n").map(expectLogLine);
        // On a busy machine a query may be slow, which is an event.
        const others = all.filter(({ target }) => target !== "framework::db");
        const written = others.filter(({ message }) => message !== "migration applied");

        expect(code).to.equal(0);
        expect(others[0]).to.include({ message: "migration applied" });
        expect(written.map(({ message }) => message?.replace(/\d+ms$/, "0ms"))).to.deep.equal([
          "listening",
          "link created",
          "POST /api/links 201 0ms",
          "GET /about 200 0ms",
          "signal received",
          "draining",
          "listener stopped",
          "stopped",
        ]);
        expect(written[0]?.fields).to.include({ name: "links", at: child.url });
        expect(child.errors + child.output).not.to.contain("canary");
      });

      it("exports its spans where the environment sets a collector", () => {
        const line = child.errors.split("\n").find((each) => each.includes("GET /about 200"));
        const { fields } = expectLogLine(line ?? "");
        const spans = collector.spans.map((span) => ({ trace: hex(span.traceId), ...attributesOf(span) }));

        expect(collector.requests[0]?.resourceSpans[0]?.resource).to.deep.include({
          attributes: [{ key: "service.name", value: { stringValue: "links" } }],
        });
        expect(spans.filter(({ trace }) => trace === TRACE)).to.have.deep.members([
          { trace: TRACE, trace_id: TRACE, parent_span_id: "00f067aa0ba902b7", continued_trace: true },
          { trace: TRACE, method: "GET", path: "/about", request_id: fields?.["request_id"], client_ip: "127.0.0.1" },
        ]);
        expect(JSON.stringify(collector.requests)).not.to.contain("canary");
      });
    });

    it("goes on while the collector is down, and writes exactly the events that RUST_LOG selects, lost spans among them", async () => {
      const environment = {
        OTLP_ENDPOINT: "http://127.0.0.1:9",
        RUST_LOG: "framework::lifecycle=info,framework::otel=warn",
      };
      await using child = await Child.start(MAIN, environment);
      await child.says("listening", "errors");

      const responses = [await fetch(`${child.url}/about`), await fetch(`${child.url}/about`)];
      child.kill("SIGTERM");

      expect(responses.map(({ status }) => status)).to.deep.equal([200, 200]);
      expect(await child.exitCode()).to.equal(0);
      expect(child.errors).to.include("spans not delivered");
      expect(child.errors).to.include("WARN framework::lifecycle: shutdown failed");
      const targets = [...child.errors.matchAll(/^\S+ [A-Z]+ (\S+): /gm)].map(([, target]) => target);
      expect(new Set(targets)).to.deep.equal(new Set(["framework::lifecycle", "framework::otel"]));
    });
  });
});
