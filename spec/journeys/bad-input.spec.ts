/**
 * Input of attackers and broken clients, over raw sockets, to an application with every stage on. The guide's page on bad input has a
 * row for each test here.
 */
import { truncateSync } from "node:fs";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { brotliDecompressSync } from "node:zlib";
import {
  Application,
  Clock,
  provide,
  RateLimit,
  redirect,
  Route,
  Routes,
  SecurityHeaders,
  type Context,
  type Run,
} from "@stagecraft/framework";
import {
  CsrfConfig,
  CsrfToken,
  Flash,
  MemorySessionStore,
  Session,
  SessionConfig,
  type StoredSession,
} from "@stagecraft/framework/session";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { listening } from "../support/listening.js";
import { StaticSite } from "../support/static-site.js";
import { Child } from "../support/child.js";
import { Conversation } from "../support/conversation.js";
import { Gate } from "../support/gate.js";
import { until } from "../support/until.js";
import { withObservability } from "../support/with-observability.js";

const LIMIT_MS = 5000;
const LIMIT_BYTES = 100_000;
const ORIGIN = "https://app.example";
const LONG = "the same again, ".repeat(200);
const WORDS = "Words that change rarely.\n";

/** Every way in which Koa, Node and the framework set a header; each sets a value with CR and LF. */
const SPLITS: Readonly<Record<string, (ctx: Context) => unknown>> = {
  set: (ctx) => ctx.set("X-A", "a\r\nSet-Cookie: evil=1"),
  "set a name": (ctx) => ctx.set("X-A\r\nSet-Cookie", "evil=1"),
  append: (ctx) => ctx.append("X-A", "a\r\nSet-Cookie: evil=1"),
  "set a list": (ctx) => ctx.set("X-A", ["a", "b\r\nSet-Cookie: evil=1"]),
  type: (ctx) => (ctx.type = "text/html\r\nSet-Cookie: evil=1"),
  etag: (ctx) => (ctx.response.etag = "a\r\nSet-Cookie: evil=1"),
  vary: (ctx) => ctx.vary("a\r\nSet-Cookie: evil=1"),
  message: (ctx) => (ctx.message = "fine\r\nSet-Cookie: evil=1"),
  cookie: (ctx) => ctx.cookies.set("a", "b\r\nSet-Cookie: evil=1"),
  redirect: (ctx) => ctx.redirect("/a\r\nSet-Cookie: evil=1"),
  attachment: (ctx) => ctx.attachment("a\r\nSet-Cookie: evil=1"),
  "setHeader on Node's response": (ctx) => ctx.res.setHeader("X-A", "a\r\nSet-Cookie: evil=1"),
  "writeHead on Node's response": (ctx) => ctx.res.writeHead(200, { "X-A": "a\r\nSet-Cookie: evil=1" }),
};

function application(root: string, limit = RateLimit.perHour(1_000_000)) {
  const routes = new Routes([
    Route.get("/", () => "home"),
    Route.get("/long", () => LONG),
    Route.post("/text", async (ctx) => `read ${(await ctx.text()).length}`),
    ...Object.entries(SPLITS).map(([name, split]) =>
      Route.get(`/split/${encodeURIComponent(name)}`, (ctx) => void (split(ctx), (ctx.body = "whole"))),
    ),
  ]);
  return withObservability(Application.create())
    .routes(routes)
    .compression()
    .securityHeaders(new SecurityHeaders().withHsts().withCspNonce("script-src 'nonce-{nonce}'"))
    .cors({ origins: [ORIGIN] })
    .bodyLimit(LIMIT_BYTES)
    .timeout(LIMIT_MS, { status: 503 })
    .maintenance()
    .rateLimit(limit)
    .layer((ctx: Context, next) => {
      sockets.push(ctx.socket);
      serving = ctx.app;
      return next();
    })
    .staticFiles({ root });
}

/** The connections that carry a request. */
const sockets: Socket[] = [];
/** The Koa application of the last request. */
let serving: Context["app"] | undefined;

/** The headers of every response of the pipeline. */
const ENVELOPE = ["x-request-id", "x-frame-options", "strict-transport-security", "content-security-policy", "vary"];

const PARSER_RESPONSE = /^HTTP\/1\.1 (\d{3}) [A-Za-z ]+\r\nConnection: close\r\n\r\n$/;

function portOf({ url }: TestApp): number {
  return Number(new URL(url).port);
}

function get(path: string, ...headers: readonly string[]): string {
  return [`GET ${path} HTTP/1.1`, "Host: x", "Connection: close", ...headers, "", ""].join("\r\n");
}

function post(...headers: readonly string[]): string {
  return ["POST /text HTTP/1.1", "Host: x", "Content-Type: text/plain", ...headers, "", ""].join("\r\n");
}

describe("bad input", function () {
  this.timeout(60_000);
  this.slow(2000);
  let site: StaticSite;
  let clock: FakeClock;
  let app: TestApp;

  beforeEach(async () => {
    sockets.length = 0;
    site = new StaticSite();
    site.put("words.txt", WORDS);
    clock = new FakeClock();
    app = await testApp(application(site.root), provide(Clock).useValue(clock));
  });

  afterEach(async () => {
    await app.stop();
    site.remove();
  });

  /** All received bytes until the connection ends. */
  async function exchange(bytes: string): Promise<string> {
    await using client = await Conversation.with(portOf(app));
    const text = await client.say(bytes).end();
    expect(client.wasReset).to.equal(false);
    return text;
  }

  function accessLines(): readonly string[] {
    return app.logs.lines().filter((line) => line.includes("framework::observe::access_log"));
  }

  function troubles(): readonly string[] {
    return app.logs.lines().filter((line) => /"level":"(?:WARN|ERROR)"/.test(line));
  }

  it("a body that arrives a byte at a time", async () => {
    await using client = await Conversation.with(portOf(app));

    client.say(`${post("Content-Length: 90000")}a`);
    await until(() => clock.pending > 0);
    for (let at = 0; at < 9; at++) {
      clock.advance(LIMIT_MS / 10);
      client.say("b");
    }
    const before = client.received;
    clock.advance(LIMIT_MS / 10);
    const text = await client.end();

    expect(before).to.equal("");
    expect(text).to.match(/^HTTP\/1\.1 408 [^]*Connection: close[^]*urn:framework:problem:timeout/);
    for (const name of ENVELOPE) expect(text.toLowerCase()).to.contain(`\r\n${name}: `);
    expect(accessLines()).to.have.length(1);
  });

  it("a head that arrives a byte at a time, or never", async () => {
    // The 60 s of the framework are a setting of Node; here the setting is short.
    const { server, port } = await listening(createServer({ headersTimeout: 150, connectionsCheckingInterval: 20 }));
    const running = await application(site.root).build().serve(server);
    await using slow = await Conversation.with(port);
    await using silent = await Conversation.with(port);

    const head = get("/").split("");
    const dribble = setInterval(() => slow.say(head.shift() ?? ""), 10);
    const texts = [await slow.end(), await silent.end()];
    clearInterval(dribble);
    for (const { socket } of [slow, silent]) socket.destroy();
    await running.stop();

    expect(texts).to.deep.equal(Array(2).fill("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"));
  });

  it("two Content-Length headers, or Content-Length with chunks", async () => {
    const framings = [
      ["Content-Length: 5", "Content-Length: 6"],
      ["Content-Length: 5", "Content-Length: 5"],
      ["Content-Length: 5, 6"],
      ["Content-Length: 5", "Transfer-Encoding: chunked"],
      ["Transfer-Encoding: chunked", "Content-Length: 5"],
      ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
      ["Content-Length: +5"],
      ["Content-Length: 5 5"],
      ["Content-Length:"],
    ];

    const statuses = [];
    for (const framing of framings) {
      // A proxy that uses the other length reads a second request as the body.
      const text = await exchange(`${post(...framing)}0\r\n\r\n${get("/")}`);
      statuses.push(PARSER_RESPONSE.exec(text)?.[1] ?? text);
    }

    expect(statuses).to.deep.equal(framings.map(() => "400"));
    expect(accessLines()).to.deep.equal([]);
  });

  it("chunks with a wrong length", async () => {
    const lies = [
      "3\r\nabcdef\r\n0\r\n\r\n",
      "zz\r\nabc\r\n0\r\n\r\n",
      "-1\r\nabc\r\n0\r\n\r\n",
      "fffffffffffffffff\r\nabc",
    ];

    const statuses = [];
    for (const lie of lies) {
      const text = await exchange(`${post("Transfer-Encoding: chunked")}${lie}`);
      statuses.push(PARSER_RESPONSE.exec(text)?.[1] ?? text);
    }
    await using client = await Conversation.with(portOf(app));
    const huge = await client
      .say(`${post("Transfer-Encoding: chunked")}7fffffff\r\n${"x".repeat(LIMIT_BYTES + 1)}`)
      .end();

    expect(statuses).to.deep.equal(lies.map(() => "400"));
    expect(huge).to.match(/^HTTP\/1\.1 413 [^]*Connection: close/);
    expect(troubles()).to.deep.equal([]);
  });

  it("an upload of 10 GB, with and without Content-Length", async () => {
    const announced = await exchange(post("Content-Length: 10000000000"));
    const expecting = await exchange(post("Content-Length: 10000000000", "Expect: 100-continue"));
    await using flood = await Conversation.with(portOf(app));
    flood.say(post("Transfer-Encoding: chunked"));
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    let sent = 0;
    const more = setInterval(() => {
      if (flood.socket.writableLength > 1_000_000) return;
      flood.say(chunk);
      sent += chunk.length;
    }, 1);
    const chunked = await flood.end();
    clearInterval(more);

    for (const text of [announced, expecting, chunked]) {
      expect(text).to.match(/^HTTP\/1\.1 413 [^]*Connection: close[^]*urn:framework:problem:payload-too-large/);
      for (const name of ENVELOPE) expect(text.toLowerCase()).to.contain(`\r\n${name}: `);
    }
    expect(sent).to.be.below(20_000_000);
    expect(accessLines()).to.have.length(3);
  });

  it("a client that leaves after any byte", async () => {
    const whole = `${post("Content-Length: 5", "Accept-Encoding: br")}hello`;

    for (let cut = 0; cut <= whole.length; cut++) {
      await using client = await Conversation.with(portOf(app));
      client.say(whole.slice(0, cut));
      if (cut % 2 === 0) client.socket.end();
      else setImmediate(() => client.socket.resetAndDestroy());
      await until(() => client.isClosed || client.socket.readableEnded);
    }

    expect((await app.get("/")).status).to.equal(200);
    await app.stop();
    expect(troubles()).to.deep.equal([]);
    // Each request is logged at most once, the last one too.
    expect(accessLines().length).to.be.within(2, whole.length + 2);
  });

  it("a client that does not read its response", async () => {
    const size = 64 * 1_048_576;
    truncateSync(site.put("large.txt", ""), size);
    await using client = await Conversation.with(portOf(app));

    client.socket.pause();
    client.say(get("/large.txt"));
    await until(() => sockets.length === 1);
    await atRest(() => sockets[0]?.bytesWritten);

    const [{ bytesWritten, writableLength } = client.socket] = sockets;
    expect(bytesWritten).to.be.below(size / 2);
    expect(writableLength).to.be.below(1_048_576);
    expect((await app.get("/")).status).to.equal(200);
  });

  it("10,000 idle connections", async function () {
    this.timeout(180_000);
    await using child = await Child.start("../journeys/process-application.js");
    await child.says("listening", "errors");
    const before = child.residentMiB();
    const idle: Conversation[] = [];
    const count = mostConnections(10_000);
    while (idle.length < count) {
      idle.push(...(await Promise.all(Array.from({ length: 100 }, () => Conversation.with(child.port)))));
    }

    const times: number[] = [];
    for (let asked = 0; asked < 20; asked++) {
      const started = performance.now();
      expect((await fetch(`${child.url}/quick`)).status).to.equal(200);
      times.push(performance.now() - started);
    }
    const each = ((child.residentMiB() - before) * 1024) / idle.length;
    child.kill("SIGTERM");
    const code = await child.exitCode();
    for (const client of idle) client.socket.destroy();

    expect(code).to.equal(0);
    // Other load on the machine takes a processor from some of them, and not from the quickest.
    expect(Math.min(...times), "milliseconds for a request beside them").to.be.below(1000);
    expect(each, "KiB a connection").to.be.below(64);
  });

  it("a million distinct rate-limit keys", async function () {
    this.timeout(180_000);
    const limit = RateLimit.perHour(10).by({ header: "x-key" });
    await using limited = await testApp(application(site.root, limit), provide(Clock).useValue(clock));
    await limited.get("/");
    // The buckets belong to the application.
    const koa = serving;
    const seen = limit.wrap(nothing);
    for (let key = 0; key < 1_000_000; key++) void seen(requestOf(`seen ${key}`, clock, koa));
    await using client = await Conversation.with(portOf(limited));

    const count = 2000;
    const requests = Array.from(
      { length: count },
      (_, key) => `GET / HTTP/1.1\r\nHost: x\r\nX-Key: fresh ${key}\r\n\r\n`,
    );
    const known = get("/", "X-Key: seen 999999");
    const before = process.cpuUsage();
    const text = await client.say(requests.join("") + known).end();
    const { user, system } = process.cpuUsage(before);

    const remaining = [...text.matchAll(/RateLimit-Remaining: (\d+)/g)].map(([, left]) => left);
    expect(remaining).to.deep.equal([...Array<string>(count).fill("9"), "8"]);
    // Of the processor, which other load on the machine does not take.
    expect((user + system) / 1000, "milliseconds for all of them").to.be.below(5000);
  });

  it("the origin null", async () => {
    const plain = await exchange(get("/", "Origin: null"));
    const preflight = await exchange(
      get("/", "Origin: null", "Access-Control-Request-Method: PUT").replace("GET", "OPTIONS"),
    );

    expect(plain).to.match(/^HTTP\/1\.1 200 [^]*home$/);
    expect(preflight).to.match(/^HTTP\/1\.1 204 /);
    for (const text of [plain, preflight]) {
      expect(text).to.match(/\r\nVary: [^\r]*Origin/);
      expect(text).not.to.match(/^access-control-/im);
    }
  });

  it("a hostile Accept-Encoding", async () => {
    const hostile = [
      "gzip;q=0.1,".repeat(1000),
      `${" ".repeat(8000)}gzip`,
      `gzip${";".repeat(8000)}`,
      `gzip;q=0.${"0".repeat(8000)}1`,
      "gz\xefp;q=\x80, \xff",
      "br;q=2, gzip;q=-1, *;q=NaN",
      "__proto__, constructor;q=1",
      ",,,;;;===",
      "*;q=0",
      "identity;q=0",
      "br;q=0, *",
    ];

    const responses = [];
    for (const header of hostile) responses.push(await exchange(get("/long", `Accept-Encoding: ${header}`)));
    const good = await exchange(get("/long", "Accept-Encoding: gzip;q=0.9, br"));

    for (const text of responses) expect(text).to.match(/^HTTP\/1\.1 200 [^]*\r\nVary: Accept-Encoding, Origin\r\n/);
    const codings = responses.map((text) => /Content-Encoding: (\w+)/.exec(text)?.[1] ?? "none");
    expect(codings).to.deep.equal(["gzip", "gzip", ...Array<string>(8).fill("none"), "gzip"]);
    const body = Buffer.from(good.slice(good.indexOf("\r\n\r\n") + 4), "latin1");
    expect(brotliDecompressSync(body).toString()).to.equal(LONG);
  });

  it("a Range header with many ranges", async () => {
    const ranges = [
      `bytes=${"0-,".repeat(4000)}0-`,
      "bytes=0-,0-,0-",
      "bytes=0-0,1-1",
      "bytes=-",
      "bytes=5-2",
      "bytes=0x1-2",
      `bytes=${"9".repeat(4000)}-`,
      `bytes=0-${"9".repeat(4000)}`,
      "lines=0-1",
    ];

    const responses = [];
    for (const range of ranges) responses.push(await exchange(get("/words.txt", `Range: ${range}`)));

    const statuses = responses.map((text) => text.slice(9, 12));
    expect(statuses).to.deep.equal(["200", "200", "200", "200", "200", "200", "416", "206", "200"]);
    for (const text of responses.filter((each) => !each.includes(" 416 "))) {
      expect(text.slice(text.indexOf("\r\n\r\n") + 4)).to.equal(WORDS);
    }
  });

  it("a file name with two dots in any encoding", async () => {
    const dots = [
      "..",
      "%2e%2e",
      ".%2e",
      "%2E.",
      "%252e%252e",
      "%c0%ae%c0%ae",
      "%u002e%u002e",
      "..%00",
      "..;",
      "%ff%2e",
    ];
    const slashes = ["/", "%2f", "\\", "%5c", "%252f", "//"];
    const paths = dots.flatMap((up) => slashes.map((slash) => `/${up}${slash}secret.txt`));

    const statuses = new Set<string>();
    for (const path of [...paths, ...paths.map((each) => `/build${each}`)]) {
      const text = await exchange(get(path));
      statuses.add(text.slice(9, 12));
      expect(text, path).not.to.contain("this file is secret");
    }

    expect(statuses).to.deep.equal(new Set(["404", "400"]));
  });

  it("a header value with a line break from a handler", async () => {
    for (const name of Object.keys(SPLITS)) {
      const text = await exchange(get(`/split/${encodeURIComponent(name)}`));
      const head = text.slice(0, text.indexOf("\r\n\r\n"));

      expect(head, name).to.match(/^HTTP\/1\.1 (?:500|200|302) [A-Z]/);
      expect(head, name).not.to.match(/^set-cookie:/im);
      for (const each of ENVELOPE) expect(head.toLowerCase(), name).to.contain(`\r\n${each}: `);
      const line = accessLines().at(-1) ?? "";
      expect(line, name).to.contain(`"status":${head.slice(9, 12)}`);
    }
  });
});

const bodyOf = (text: string) => text.slice(text.indexOf("\r\n\r\n") + 4);
const cookieIn = (text: string, name = "framework-id") => new RegExp(`${name}=([^;]+);`).exec(text)?.[1] ?? "";

describe("bad input for sessions and forms", function () {
  this.timeout(60_000);

  let store: BrokenStore;
  let begun: Gate;
  let goOn: Gate;
  let app: TestApp;

  const routes = () => [
    Route.get("/who", async (ctx: Context) => (await Session.of(ctx).get("user")) ?? "nobody"),
    Route.get("/form", (ctx: Context) => CsrfToken.of(ctx).masked()),
    Route.get("/flash", async (ctx: Context) => Flash.of(ctx).take()),
    Route.get("/to", (ctx: Context) => redirect().to(new URLSearchParams(ctx.querystring).get("target") ?? "")),
    Route.get("/back", () => redirect().back("/who")),
    Route.post("/sign-in/{user}", (ctx: Context<"user">) => {
      Session.of(ctx).regenerate();
      Session.of(ctx).put("user", ctx.params.user);
    }),
    Route.post("/sign-out", (ctx: Context) => Session.of(ctx).flush()),
    Route.post("/begin", (ctx: Context) => Session.of(ctx).put("cart", 1)),
    Route.post("/refused", async (ctx: Context) => {
      await ctx.form();
      return redirect().to("/flash").withErrors({ name: "too short" });
    }),
    Route.post("/slow", async (ctx: Context) => {
      await Session.of(ctx).get("user");
      begun.open();
      await goOn.passed;
      Session.of(ctx).put("cart", 1);
    }),
  ];

  beforeEach(async () => {
    [store, begun, goOn] = [new BrokenStore({ maxSessions: 20 }), new Gate(), new Gate()];
    const builder = withObservability(Application.create())
      .session(SessionConfig.pages("5a".repeat(64)).dev(), store)
      .csrf(CsrfConfig.pages().dev())
      .routes(new Routes(routes()));
    app = await testApp(builder, provide(Clock).useValue(new FakeClock()));
  });

  afterEach(() => app.stop());

  async function ask(request: string, headers: readonly string[] = [], body = ""): Promise<string> {
    const lines = [`${request} HTTP/1.1`, "Host: x", "Connection: close", `Content-Length: ${body.length}`, ...headers];
    await using client = await Conversation.with(portOf(app));
    return await client.say(`${lines.join("\r\n")}\r\n\r\n${body}`).end();
  }

  const whoIs = async (cookie: string) => bodyOf(await ask("GET /who", [`Cookie: ${cookie}`]));

  /** A bearer token makes a request of a program, which needs no CSRF token. */
  const PROGRAM = "Authorization: Bearer of-a-program";

  async function signedIn(user: string): Promise<string> {
    return cookieIn(await ask(`POST /sign-in/${user}`, [PROGRAM]));
  }

  const tokenOf = async (id: string) => cookieIn(await ask("GET /form", [`Cookie: framework-id=${id}`]), "XSRF-TOKEN");

  it("a forged, cut, swapped or oversized session cookie", async () => {
    const [ada, eve] = [await signedIn("ada"), await signedIn("eve")];
    const swapped = `${ada.split(".")[0]}.${eve.split(".")[1]}`;
    store.loads = 0;

    for (const value of ["", "x", ada.slice(0, -1), `${ada}A`, swapped, "A".repeat(15_000)])
      expect(await whoIs(`framework-id=${value}`), value.slice(0, 80)).to.equal("nobody");

    expect(store.loads).to.equal(0);
    expect(await ask("GET /who", [`Cookie: framework-id=${"A".repeat(20_000)}`])).to.match(/^HTTP\/1\.1 431 /);
    expect(await whoIs(`framework-id=${ada}`)).to.equal("ada");
  });

  it("a thousand cookies, and a session cookie sent many times", async () => {
    const ada = `framework-id=${await signedIn("ada")}`;
    const thousand = Array.from({ length: 1000 }, (_, at) => `a${at}=1`).join("; ");

    expect(await whoIs(`${thousand}; ${ada}`)).to.equal("ada");
    expect(await whoIs(`${"framework-id=forged; ".repeat(3)}${ada}`)).to.equal("ada");
    expect(await whoIs(`${"framework-id=forged; ".repeat(4)}${ada}`)).to.equal("nobody");
  });

  it("a session id that an attacker planted", async () => {
    const planted = `framework-id=${cookieIn(await ask("POST /begin", [PROGRAM]))}`;

    const signIn = await ask("POST /sign-in/ada", [PROGRAM, `Cookie: ${planted}`]);

    expect(await whoIs(planted)).to.equal("nobody");
    expect(await whoIs(`framework-id=${cookieIn(signIn)}`)).to.equal("ada");
  });

  it("a session store that fails, or returns garbage or the record of another visitor", async () => {
    const ada = `framework-id=${await signedIn("ada")}`;
    const record = { key: "of another visitor", values: new Map([["user", '"eve"']]), renewedAt: 0 };

    for (const load of [() => Promise.reject(new Error("down")), () => "garbage", () => record]) {
      store.loading = load;
      const text = await ask("GET /who", [`Cookie: ${ada}`]);
      expect(text).to.match(/^HTTP\/1\.1 503 [^]*urn:framework:problem:unavailable/);
      expect(text).not.to.match(/eve|nobody|set-cookie/i);
    }
    store.loading = undefined;
    expect(await whoIs(ada)).to.equal("ada");
  });

  it("a sign-out while a slow request of the session runs", async () => {
    const ada = `Cookie: framework-id=${await signedIn("ada")}`;
    const slow = ask("POST /slow", [PROGRAM, ada]);
    await begun.passed;

    await ask("POST /sign-out", [PROGRAM, ada]);
    goOn.open();

    expect(await slow)
      .to.match(/^HTTP\/1\.1 204 /)
      .and.not.match(/set-cookie/i);
    expect(store.size).to.equal(0);
  });

  it("sessions that one client begins without end", async () => {
    for (let at = 0; at < 60; at++) await ask("POST /begin", [PROGRAM]);

    expect(store.size).to.equal(20);
  });

  it("a token of another session, and a request from another site", async () => {
    const [ada, eve] = [await signedIn("ada"), await signedIn("eve")];
    const [own, other] = [await tokenOf(ada), await tokenOf(eve)];
    const sent = (token: string, ...headers: readonly string[]) =>
      ask("POST /begin", [`Cookie: framework-id=${ada}; XSRF-TOKEN=${token}`, `X-XSRF-TOKEN: ${token}`, ...headers]);
    const from = ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"];

    expect(await sent(own)).to.match(/^HTTP\/1\.1 204 /);
    expect(await sent(other)).to.match(/^HTTP\/1\.1 403 [^]*CSRF token mismatch/);
    for (const header of from) {
      const text = await sent(own, header);
      expect(text, header).to.match(/^HTTP\/1\.1 403 [^]*cross-site request/);
      expect(text, header).not.to.match(/set-cookie/i);
    }
  });

  it("a password in a form that is refused", async () => {
    const form = ["Content-Type: application/x-www-form-urlencoded", PROGRAM];
    const refused = await ask("POST /refused", form, "name=A&password=canary&user%5Bpassword%5D=canary&apiKey=canary");

    const shown = bodyOf(await ask("GET /flash", [`Cookie: framework-id=${cookieIn(refused)}`]));

    expect(refused).to.match(/^HTTP\/1\.1 303 /);
    expect(shown).to.include('"input":{"name":"A","user":{}}').and.not.include("canary");
    expect(app.logs.transcript()).not.to.include("canary");
  });

  it("a redirect to another site, and one with a line break", async () => {
    for (const target of [
      "//evil.example",
      "/\\evil.example",
      "javascript:alert(1)",
      "https://evil.example",
      "/\r\nX: 1",
    ]) {
      const text = await ask(`GET /to?target=${encodeURIComponent(target)}`);
      expect(text, target)
        .to.match(/^HTTP\/1\.1 400 /)
        .and.not.match(/^(?:location|x):/im);
      const back = await ask("GET /back", [`Referer: ${target.replaceAll(/[\r\n]/g, "")}`]);
      expect(back, target).to.match(/^HTTP\/1\.1 302 [^]*\r\nLocation: \/(?:who|X:%201)\r\n/);
    }
  });
});

/** A store in memory that counts its loads, and whose loads may fail. */
class BrokenStore extends MemorySessionStore {
  loads = 0;
  loading: (() => unknown) | undefined = undefined;

  override load(key: string, now: number): StoredSession | undefined {
    this.loads++;
    return this.loading === undefined ? super.load(key, now) : (this.loading() as StoredSession);
  }
}

/** Waits until a number no longer changes. */
async function atRest(figure: () => unknown): Promise<void> {
  for (let before: unknown; before !== figure();) {
    before = figure();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const nothing: Run = () => undefined;

/** The part of a request that a limit by a header reads. */
function requestOf(key: string, clock: Clock, app: Context["app"] | undefined): Context {
  return { app, incoming: { headers: { "x-key": key } }, clock, completeHeadWith: nothing } as unknown as Context;
}

/** The wanted number, or fewer where this process may not open so many. */
function mostConnections(wanted: number): number {
  const report = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: unknown } };
  };
  const limit = Number(report.userLimits?.open_files?.soft);
  return Number.isNaN(limit) ? wanted : Math.min(wanted, limit - 500);
}
