/**
 * The log lines and counts of requests in a whole application: requests outside the log are not counted, refusals of inner stages are logged,
 * and layers placed by hand log only the requests that reach them.
 */
import { once } from "node:events";
import { rm } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { expect } from "chai";
import {
  Application,
  Maintenance,
  NotFoundError,
  ProxyAction,
  RateLimit,
  Route,
  Routes,
  type ApplicationBuilder,
  type Context,
} from "../../lib/entries/main.js";
import { tracing } from "../../lib/tracing/tracing.js";
import { AccessLogLayer, MetricsLayer, Metrics, RequestIdLayer, TraceContextLayer } from "../../lib/entries/observe.js";
import { HTTP_REQUESTS_TOTAL } from "../../lib/observe/metrics/metrics.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import { PATIENT } from "../support/patient.js";
import { TracingRecorder } from "../support/tracing-recorder.js";
import { until } from "../support/until.js";

const TARGET = "framework::observe::access_log";
const ORIGIN = "https://shop.example";
const log = tracing.target("shop");

const routes = new Routes([
  Route.get("/fine", () => "fine"),
  Route.get("/panic", () => Promise.reject(new Error("boom"))),
  Route.get("/slow", () => new Promise(() => {})),
  Route.post("/links", (ctx: Context) => ctx.json()),
  Route.get("/reported", () => log.info("reported")),
]);

function observed(): ApplicationBuilder {
  return Application.create().routes(routes).requestId().traceContext().accessLog().metrics();
}

/** The same stages as layers of the application. */
function byHand(metrics: Metrics): ApplicationBuilder {
  return Application.create()
    .routes(routes)
    .layer(new RequestIdLayer(), new TraceContextLayer(), new AccessLogLayer(), new MetricsLayer(metrics));
}

interface Line {
  readonly target: string;
  readonly level: string;
  readonly message: string;
  readonly spans?: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
}

function linesOf(app: TestApp, target: string): readonly Line[] {
  // The log's lines are JSON objects with these members.
  return app.logs.lines().flatMap((line) => [JSON.parse(line) as Line].filter((each) => each.target === target));
}

/** The logged requests so far, each as `<method> <path> <status>`. */
function loggedRequests(app: TestApp): readonly string[] {
  return linesOf(app, TARGET).map(({ message }) => message.replace(/ \d+ms$/, ""));
}

function counted(app: TestApp): number {
  const text = app.resolve(Metrics).render();
  return [...text.matchAll(/^http_requests_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe("the requests of an application", () => {
  it("are logged once each, whichever stage responds, and the counts agree", async () => {
    await using app = await testApp(
      observed()
        .maintenance(new Maintenance().allow("/"))
        .rateLimit(RateLimit.perHour(6))
        .bodyLimit(10)
        .timeout(60_000),
    );

    await app.get("/fine?token=secret");
    await app.head("/fine");
    await app.get("/nowhere");
    await app.delete("/fine");
    await app.options("/fine");
    await app.get("/%zz");
    await app.get("/fine");
    await app.post("/links", { json: "far too long" });

    expect(loggedRequests(app)).to.deep.equal([
      "GET /fine 200",
      "HEAD /fine 200",
      "GET /nowhere 404",
      "DELETE /fine 405",
      "OPTIONS /fine 204",
      "GET /%zz 400",
      "GET /fine 429",
      "POST /links 413",
    ]);
    expect(counted(app)).to.equal(8);
  });

  it("are logged where only the last-resort handler catches an unhandled error", async () => {
    await using app = await testApp(observed());

    const response = await app.get("/panic");

    expect(response.status).to.equal(500);
    expect(response.headers.get("x-request-id")).to.match(/^[0-9a-f-]{36}$/);
    expect(loggedRequests(app)).to.deep.equal(["GET /panic 500"]);
    expect(counted(app)).to.equal(1);
  });

  it("are logged with the path that the proxy function sets", async () => {
    await using app = await testApp(observed().proxy(() => ProxyAction.rewrite("/fine?token=secret")));

    await app.get("/asked?token=secret");

    expect(loggedRequests(app)).to.deep.equal(["GET /fine 200"]);
    expect(app.logs.transcript()).not.to.contain("secret").and.not.to.contain("/asked");
  });

  it("are logged with their trace, their id and one span around the line", async () => {
    await using app = await testApp(observed());
    const trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
    const headers = { traceparent: `00-${trace_id}-00f067aa0ba902b7-01`, "x-request-id": "abc" };

    await app.get("/reported", { headers });

    const trace = { trace_id, parent_span_id: "00f067aa0ba902b7", continued_trace: true };
    const request = { request_id: "abc", method: "GET", path: "/reported", client_ip: "127.0.0.1" };
    const [line] = linesOf(app, TARGET);
    const [event] = linesOf(app, "shop");
    expect(line?.spans).to.deep.equal(["framework.request"]);
    expect(line?.fields).to.deep.include({ ...trace, ...request, status: 204 });
    expect(event?.spans).to.deep.equal(["framework.request", "framework.request"]);
    expect(event?.fields).to.deep.equal({ ...trace, ...request });
  });

  it("are not logged, not counted and get no id where a health endpoint responds", async () => {
    await using app = await testApp(observed());

    const responses = [
      await app.get("/up"),
      await app.get("/up/live"),
      await app.head("/up/ready"),
      await app.post("/up"),
    ];

    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 200, 405]);
    expect(responses.map(({ headers }) => headers.has("x-request-id"))).to.deep.equal([false, false, false, false]);
    expect([loggedRequests(app), counted(app)]).to.deep.equal([[], 0]);
  });

  it("are not logged, not counted and get no id where CORS responds to a preflight", async () => {
    await using app = await testApp(observed().cors({ origins: [ORIGIN] }));

    const response = await app.options("/fine", {
      headers: { origin: ORIGIN, "access-control-request-method": "PUT" },
    });

    expect(response.status).to.equal(204);
    expect(response.headers.has("x-request-id")).to.equal(false);
    expect([loggedRequests(app), counted(app)]).to.deep.equal([[], 0]);
  });

  it("are not logged and not counted where the proxy function or the parser responds", async () => {
    await using app = await testApp(observed().proxy(() => ProxyAction.shortCircuit(418)));

    await app.get("/fine");
    await app.raw("BREW / HTTP/1.1\r\nHost: spec\r\n\r\n", PATIENT);

    expect([loggedRequests(app), counted(app)]).to.deep.equal([[], 0]);
  });

  it("get only x-request-id on their responses", async () => {
    await using plain = await testApp(Application.create().routes(routes));
    await using app = await testApp(observed());

    for (const path of ["/fine", "/nowhere", "/panic"]) {
      const [without, having] = [await plain.get(path), await app.get(path)];

      const added = [...having.headers.keys()].filter((name) => !without.headers.has(name));
      expect(added).to.deep.equal(["x-request-id"]);
    }
  });

  it("are logged with an empty id, and a warning at the start, where the id is off", async () => {
    await using app = await testApp(Application.create().routes(routes).accessLog());

    await app.get("/fine", { headers: { "x-request-id": "abc" } });

    expect(linesOf(app, TARGET)[0]?.fields).to.include({ request_id: "" });
    const warnings = linesOf(app, "framework::lifecycle").filter(({ level }) => level === "WARN");
    expect(warnings.map(({ message }) => message)).to.deep.equal([
      "the access log is on and the request id is off: its lines have an empty request_id",
    ]);
  });

  it("cause no warning where both are on", async () => {
    await using app = await testApp(observed());

    expect(app.logs.lines().filter((line) => line.includes('"WARN"'))).to.deep.equal([]);
  });
});

describe("the client of a request", () => {
  const behind: readonly (readonly [string, string, readonly string[], string])[] = [
    ["the peer, where it sends nothing", "127.0.0.1", [], "127.0.0.1"],
    ["the peer, where no proxy is trusted", "", ["203.0.113.7"], "127.0.0.1"],
    ["who a trusted proxy names", "127.0.0.1", ["203.0.113.7"], "203.0.113.7"],
    [
      "the first untrusted from the right",
      "127.0.0.0/8, 10.0.0.0/8",
      ["6.6.6.6, 203.0.113.7, 10.1.2.3"],
      "203.0.113.7",
    ],
    [
      "the first untrusted of several lines",
      "127.0.0.1 10.0.0.0/8",
      ["6.6.6.6", "203.0.113.7", "10.1.2.3"],
      "203.0.113.7",
    ],
    [
      "the last trusted before something unreadable",
      "127.0.0.1,10.0.0.0/8",
      ["203.0.113.7, junk, 10.1.2.3"],
      "10.1.2.3",
    ],
    ["an address of version 6", "127.0.0.1", ["[2001:db8::1]:443"], "2001:db8::1"],
  ];

  for (const [what, proxies, forwarded, expected] of behind) {
    it(`is ${what}`, async () => {
      await using app = await testApp(observed().trustedProxies(proxies));
      const headers = { "x-forwarded-for": forwarded, "x-real-ip": "6.6.6.6", forwarded: "for=6.6.6.6" };

      await app.get("/reported", { headers });

      expect(linesOf(app, TARGET).map(({ fields }) => fields["client_ip"])).to.deep.equal([expected]);
      expect(linesOf(app, "shop").map(({ fields }) => fields["client_ip"])).to.deep.equal([expected]);
    });
  }

  const hostile: readonly (readonly [string, string, status: number])[] = [
    ["a text that is not an address", "x-forwarded-for: <script>\r\n", 200],
    ["12 000 bytes", `x-forwarded-for: ${"6.6.6.6,".repeat(1500)}x\r\n`, 200],
    ["an address of 12 000 bytes", `x-forwarded-for: ${"6".repeat(12_000)}\r\n`, 200],
    ["letters beyond ASCII", "x-forwarded-for: 6.6.6.\xb9\r\n", 200],
    ["an encoded line break", "x-forwarded-for: 6.6.6.6%0d%0a\r\n", 200],
    ["a second, empty line", "x-forwarded-for: 6.6.6.6\r\nx-forwarded-for:\r\n", 200],
    ["a bare CR", "x-forwarded-for: 6.6.6.6\rinjected: 1\r\n", 400],
    ["a folded line", "x-forwarded-for: 6.6.6.6\r\n injected: 1\r\n", 400],
    ["a NUL", "x-forwarded-for: 6.6.6.6\0\r\n", 400],
  ];

  for (const [what, line, status] of hostile) {
    it(`is the trusted peer itself where it sends ${what}${status === 400 ? ", which the parser refuses" : ""}`, async () => {
      await using app = await testApp(observed().trustedProxies("127.0.0.1"));
      const head = `GET /reported HTTP/1.1\r\nHost: spec\r\nConnection: close\r\n${line}\r\n`;

      const response = String(await app.raw(Buffer.from(head, "latin1"), PATIENT));

      expect(response).to.match(status === 400 ? /^HTTP\/1\.1 400 / : /^HTTP\/1\.1 204 /);
      const clients = linesOf(app, TARGET).map(({ fields }) => fields["client_ip"]);
      expect(clients).to.deep.equal(status === 400 ? [] : ["127.0.0.1"]);
      expect(app.logs.transcript()).not.to.contain("6.6.6").and.not.to.contain("injected");
    });
  }

  it("is known for every served client, and not logged for a client that resets at once", async () => {
    const seen: string[] = [];
    const act = Route.post("/act", (ctx: Context) => void seen.push(ctx.ip));
    await using app = await testApp(observed().routes(new Routes([act])));
    const { port } = new URL(app.url);

    for (let turn = 0; turn < 20; turn++) {
      const client = net.connect(Number(port), "127.0.0.1").on("error", () => {});
      await once(client, "connect");
      client.write("POST /act HTTP/1.1\r\nHost: spec\r\nContent-Length: 0\r\n\r\n");
      client.resetAndDestroy();
    }
    await app.post("/act");
    // The line of a request that was reset comes when its connection closes.
    await until(() => linesOf(app, TARGET).length >= seen.length);

    const clients = linesOf(app, TARGET).map(({ fields }) => fields["client_ip"]);
    expect(new Set([...seen, ...clients])).to.deep.equal(new Set(["127.0.0.1"]));
    expect(clients).to.have.lengthOf(seen.length);
  });

  it("is empty on a socket without addresses", async () => {
    const path = `/tmp/stagecraft-observed-${process.pid}.sock`;
    const witness = new TracingRecorder();
    const running = await witness.run(async () => {
      const listener = net.createServer().listen(path);
      await once(listener, "listening");
      return observed().lifecycle({ drainDelayMs: 0 }).build().serve(listener);
    });

    // The event's one argument, by Node's documentation.
    const request = http.get({ socketPath: path, path: "/reported", agent: false });
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    response.resume();
    await running.stop();
    await rm(path, { force: true });

    expect(witness.from(TARGET)[0]?.fields).to.include({ client_ip: "" });
    expect(witness.from("shop")[0]?.inherited).to.include({ client_ip: "" });
  });
});

describe("the layers placed by hand", () => {
  it("log the requests that reach them: responses, 404 and 405", async () => {
    const metrics = new Metrics();
    await using app = await testApp(byHand(metrics));

    const responses = [await app.get("/reported"), await app.get("/nowhere"), await app.put("/fine")];

    expect(loggedRequests(app)).to.deep.equal(["GET /reported 204", "GET /nowhere 404", "PUT /fine 405"]);
    for (const { headers } of responses) expect(headers.get("x-request-id")).to.match(/^[0-9a-f-]{36}$/);
    expect(metrics.counterValue(HTTP_REQUESTS_TOTAL, { method: "PUT", status: "405" })).to.equal(1);
    expect(linesOf(app, "shop")[0]?.spans).to.deep.equal(["framework.request", "framework.request"]);
  });

  it("log an unhandled error as 500", async () => {
    const metrics = new Metrics();
    await using app = await testApp(byHand(metrics).catchPanic());

    const response = await app.get("/panic");

    expect(response.status).to.equal(500);
    expect(loggedRequests(app)).to.deep.equal(["GET /panic 500"]);
    expect(metrics.counterValue(HTTP_REQUESTS_TOTAL, { method: "GET", status: "500" })).to.equal(1);
  });

  it("log an error with its status, as the response that it becomes further out", async () => {
    const metrics = new Metrics();
    const missing = Route.get("/missing", () => Promise.reject(new NotFoundError("no")));
    await using app = await testApp(byHand(metrics).routes(new Routes([missing])));

    const response = await app.get("/missing");

    expect(response.status).to.equal(404);
    expect(loggedRequests(app)).to.deep.equal(["GET /missing 404"]);
  });

  it("never see a request that a stage refuses", async () => {
    const closed = Maintenance.engaged();
    const refusing: readonly (readonly [number, ApplicationBuilder, string, object])[] = [
      [413, byHand(new Metrics()).bodyLimit(2), "/links", { method: "POST", json: "far too long" }],
      [503, byHand(new Metrics()).maintenance(closed), "/fine", {}],
      [429, byHand(new Metrics()).rateLimit(RateLimit.perHour(0)), "/fine", {}],
    ];

    for (const [status, builder, path, options] of refusing) {
      await using app = await testApp(builder);

      const response = await app.request(path, options);

      expect(response.status).to.equal(status);
      expect(response.headers.has("x-request-id")).to.equal(false);
      expect(loggedRequests(app)).to.deep.equal([]);
    }
  });

  it("count under the template of their route", async () => {
    const metrics = new Metrics();
    const route = Route.get("/links/{id}", () => "a link").middleware(MetricsLayer.labelled(metrics, "/links/{id}"));
    await using app = await testApp(Application.create().routes(new Routes([route, Route.get("/other", () => "")])));

    for (const path of ["/links/1", "/links/2", "/other", "/nowhere"]) await app.get(path);

    const labels = { method: "GET", status: "200", route: "/links/{id}" };
    expect(metrics.counterValue(HTTP_REQUESTS_TOTAL, labels)).to.equal(2);
    expect(metrics.render().match(/^http_requests_total\{/gm)).to.have.length(1);
  });
});
