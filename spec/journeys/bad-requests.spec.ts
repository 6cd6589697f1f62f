/**
 * Malformed, hostile and unusual requests. Each gets a response: from the pipeline, a problem or the documented plain response, or from the
 * parser. No request hangs, no connection is reset before its response, no response shows a stack.
 */
import { Application, Route, Routes, type Context } from "@stagecraft/framework";
import { expectProblem, testApp, type TestApp } from "@stagecraft/framework/testing";
import { PATIENT } from "../support/patient.js";
import { expect } from "chai";
import * as fc from "fast-check";

const echo = (ctx: Context<"id">) => ({ id: ctx.params.id });
const routes = new Routes([
  Route.get("/", () => "home"),
  Route.get("/slow", async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    return "in its own time";
  }),
  Route.get("/links/{id}", echo),
  Route.get("/files/{*rest}", ({ params }: Context<"rest">) => ({ rest: params.rest })),
  Route.any("/any", () => "any"),
  Route.get("/search", (ctx: Context) => Object.entries(ctx.search())),
  Route.post("/json", async (ctx: Context) => ctx.json()),
  Route.post("/form", async (ctx: Context) => Object.entries(await ctx.form())),
  Route.put("/text", async (ctx: Context) => ctx.text()),
]);

interface ParsedResponse {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** The first response in the received bytes. */
function read(bytes: Buffer): ParsedResponse {
  const text = bytes.toString("latin1");
  const [, status = "0"] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? [];
  const end = text.indexOf("\r\n\r\n");
  return { status: Number(status), head: text.slice(0, end), body: text.slice(end + 4) };
}

const request = (line: string, ...headers: readonly string[]) =>
  `${[line, "Host: x", "Connection: close", ...headers].join("\r\n")}\r\n\r\n`;
const get = (target: string, ...headers: readonly string[]) => request(`GET ${target} HTTP/1.1`, ...headers);

describe("a bad request", () => {
  let app: TestApp;

  before(async () => {
    app = await testApp(Application.create().routes(routes).catchPanic().errorMapping());
  });
  after(() => app.stop());

  const ask = async (bytes: string | Buffer) => read(await app.raw(Buffer.from(bytes as string, "latin1"), PATIENT));

  /** 0 stands for a connection that closes without a response, which is correct only for CONNECT. */
  const table: readonly (readonly [string, string, number])[] = [
    // The head
    ["a header of 20 kB", get("/", `X-Big: ${"x".repeat(20_000)}`), 431],
    ["a thousand header lines", get("/", ...Array.from({ length: 998 }, (_v, at) => `X-${at}: 1`)), 200],
    ["one header line more", get("/", ...Array.from({ length: 999 }, (_v, at) => `X-${at}: 1`)), 431],
    ["two thousand header lines", get("/", ...Array.from({ length: 2000 }, () => "a:")), 431],
    ["headers of 100 kB", get("/", ...Array.from({ length: 100 }, (_v, at) => `X-${at}: ${"x".repeat(1000)}`)), 431],
    ["a cookie of 20 kB", get("/", `Cookie: a=${"x".repeat(20_000)}`), 431],
    ["a header name with a blank", get("/", "X Y: 1"), 400],
    ["a header without a name", get("/", ": 1"), 400],
    ["a header without a colon", get("/", "nonsense"), 400],
    ["a NUL in a header", get("/", "X-A: a\0b"), 400],
    ["a control character in a header", get("/", "X-A: a\u0001b"), 400],
    ["a folded header", get("/", "X-A: a\r\n b"), 400],
    ["bytes beyond ASCII in a header", get("/", "X-A: \u00e4\u00ff"), 200],
    ["prototype names as headers", get("/", "__proto__: 1", "constructor: 2", "toString: 3"), 200],
    ["no Host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["two Hosts", get("/", "Host: y"), 400],
    ["a Host that is none", "GET / HTTP/1.1\r\nHost: x/y\r\nConnection: close\r\n\r\n", 400],
    ["an empty Host", "GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", 200],
    ["HTTP/1.0 without a Host", "GET / HTTP/1.0\r\n\r\n", 200],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    ["the version of HTTP/2", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 400],
    ["the version of HTTP/0.9", "GET / HTTP/0.9\r\nHost: x\r\n\r\n", 400],
    ["an unknown version", "GET / HTTP/7.3\r\nHost: x\r\n\r\n", 400],
    ["a TLS hello", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003", 400],
    ["empty lines before the request", `\r\n\r\n${get("/")}`, 200],
    ["an unknown expectation", get("/", "Expect: tea"), 417],
    ["an upgrade on a server without a listener for it", get("/", "Upgrade: websocket", "Sec-WebSocket-Key: x"), 200],
    // Methods
    ["an unknown method", request("BREW / HTTP/1.1"), 400],
    ["a method in lower case", request("get / HTTP/1.1"), 400],
    ["a method of 20 kB", request(`${"X".repeat(20_000)} / HTTP/1.1`), 400],
    ["a known method without a route", request("PROPFIND /links/7 HTTP/1.1"), 405],
    ["TRACE", request("TRACE / HTTP/1.1"), 405],
    ["TRACE of nothing", request("TRACE /nowhere HTTP/1.1"), 404],
    ["TRACE where anything goes", request("TRACE /any HTTP/1.1"), 200],
    ["CONNECT", request("CONNECT x:443 HTTP/1.1"), 0],
    ["OPTIONS of everything", request("OPTIONS * HTTP/1.1"), 204],
    ["OPTIONS of everything with a query", request("OPTIONS *?a=1 HTTP/1.1"), 204],
    ["GET of everything", request("GET * HTTP/1.1"), 404],
    // Targets
    ["a target in absolute form", get("http://other.example/links/7"), 200],
    ["an absolute form without a path", get("http://other.example"), 200],
    ["an absolute form with a query alone", get("http://other.example?a=/links/7"), 200],
    ["an absolute form with credentials and a port", get("http://a:b@other.example:99/links/7"), 200],
    ["an absolute form of another scheme", get("gopher://other.example/links/7"), 200],
    ["a path that looks like an authority", get("//other.example/links/7"), 404],
    ["a target without a slash", get("links/7"), 400],
    ["an empty target", "GET  HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["a blank in the target", get("/a b"), 400],
    ["a fragment", get("/links/7#top"), 200],
    ["duplicate slashes in front", get("//links/7"), 404],
    ["duplicate slashes inside", get("/links//7"), 404],
    ["duplicate slashes at the end", get("/links/7//"), 404],
    ["a slash at the end", get("/links/7/"), 404],
    ["another letter case", get("/Links/7"), 404],
    ["dots that climb", get("/links/../../../etc/passwd"), 404],
    ["encoded dots that climb", get("/links/%2e%2e/%2e%2e/etc/passwd"), 404],
    ["dots as a name", get("/links/.."), 200],
    ["backslashes", get("/links\\7"), 404],
    ["a NUL", get("/links/\0"), 400],
    ["an encoded NUL", get("/links/%00"), 400],
    ["an encoded NUL where there is no route", get("/nowhere%00"), 400],
    ["percent and nothing", get("/links/%"), 400],
    ["percent and one digit", get("/links/%2"), 400],
    ["a percent sign without two digits", get("/links/%zz"), 400],
    ["percent-encoded UTF-8 cut short", get("/links/%c3"), 400],
    ["percent-encoded UTF-8 that is none", get("/links/%c3%28"), 400],
    ["percent-encoded UTF-8 that is too long", get("/links/%c0%af"), 400],
    ["a percent-encoded surrogate", get("/links/%ed%a0%80"), 400],
    ["bad percent encoding where there is no route", get("/nowhere/%zz"), 400],
    ["bad percent encoding in a query", get("/search?a=%zz&%=1"), 200],
    ["a path of 12 kB", get(`/links/${"x".repeat(12_000)}`), 200],
    ["a path of 12 kB without a route", get(`/${"x/".repeat(6000)}`), 404],
    ["a path of 12 kB of escapes", get(`/links/${"%41".repeat(4000)}`), 200],
    ["a path of 100 kB", get(`/links/${"x".repeat(100_000)}`), 431],
    ["a query of 100 kB", get(`/search?${"x".repeat(100_000)}`), 431],
    ["a query of two thousand fields", get(`/search?${"a&".repeat(2000)}`), 413],
    // Bodies
    ["a body on GET", `${get("/", "Content-Length: 5")}hello`, 200],
    ["a chunked body on GET", `${get("/", "Transfer-Encoding: chunked")}5\r\nhello\r\n0\r\n\r\n`, 200],
    ["a body on HEAD", `${request("HEAD / HTTP/1.1", "Content-Length: 5")}hello`, 200],
    ["a body on DELETE", `${request("DELETE /any HTTP/1.1", "Content-Length: 5")}hello`, 200],
    ["a length and chunks", `${get("/", "Content-Length: 5", "Transfer-Encoding: chunked")}0\r\n\r\n`, 400],
    ["two lengths", `${get("/", "Content-Length: 5", "Content-Length: 6")}hello!`, 400],
    ["a negative length", get("/", "Content-Length: -5"), 400],
    ["a length that is not a number", get("/", "Content-Length: 0x5"), 400],
    ["a length beyond counting", get("/", `Content-Length: ${"9".repeat(40)}`), 400],
    ["a chunk size that is none", `${request("POST /json HTTP/1.1", "Transfer-Encoding: chunked")}zz\r\n`, 400],
    [
      "chunks of gzip",
      `${request("PUT /text HTTP/1.1", "Transfer-Encoding: gzip, chunked")}3\r\n\u001f\u008b\u0008\r\n0\r\n\r\n`,
      400,
    ],
    ["gzip without chunks", `${request("PUT /text HTTP/1.1", "Transfer-Encoding: gzip")}\u001f\u008b\u0008`, 400],
    ["chunks in HTTP/1.0", "PUT /text HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 400],
    ["an announced body beyond the limit", request("PUT /text HTTP/1.1", "Content-Length: 99999999"), 413],
  ];
  for (const [what, bytes, status] of table) {
    it(`with ${what} gets ${status}`, async () => {
      const response = await ask(bytes);

      expect(response.status).to.equal(status);
      expect(response.body).not.to.match(/\n\s+at |node:|Error:/);
      expect(response.head).not.to.match(/^(?:server|x-powered-by):/im);
    });
  }

  it("names the allowed methods", async () => {
    const response = await app.request("/links/7", { method: "PROPFIND" });

    await expectProblem(response, { status: 405, slug: "method-not-allowed" });
    expect(response.headers.get("allow")).to.equal("GET, HEAD, OPTIONS");
  });

  for (const path of ["/links/%", "/links/%zz", "/nowhere/%c3%28", "/links/%00"]) {
    it(`gets a problem for ${path}`, async () => {
      await expectProblem(await app.get(path), { status: 400, slug: "bad-request" });
    });
  }

  const captured: readonly (readonly [string, unknown])[] = [
    ["http://other.example/links/7?x=1", { id: "7" }],
    ["/links/..", { id: ".." }],
    ["/links/a%2Fb%3F%23", { id: "a/b?#" }],
    ["/links/%25zz", { id: "%zz" }],
    ["/links/__proto__", { id: "__proto__" }],
    ["/links/constructor", { id: "constructor" }],
    ["/files/../../etc/passwd", { rest: "../../etc/passwd" }],
    ["/files/a//b", { rest: "a//b" }],
  ];
  for (const [target, params] of captured) {
    it(`serves the target ${target}`, async () => {
      const { status, body } = await ask(get(target));

      expect([status, JSON.parse(body)]).to.deep.equal([200, params]);
    });
  }

  for (const name of ["__proto__", "constructor[prototype]"]) {
    it(`refuses ${name} in queries, forms and JSON with 400`, async () => {
      const nested = name.includes("[") ? '{"constructor":{"prototype":{"x":1}}}' : '{"__proto__":{"x":1}}';
      const responses = [
        await app.get(`/search?${name}[x]=3`),
        await app.post("/form", { body: new URLSearchParams(`${name}=1`) }),
        await app.post("/json", { body: nested, headers: { "Content-Type": "application/json" } }),
      ];

      for (const response of responses) await expectProblem(response, { status: 400, slug: "bad-request" });
      expect(Object.hasOwn(Object.prototype, "x")).to.equal(false);
    });
  }

  const PROTOTYPE_NAMES = ["constructor", "prototype", "toString", "hasOwnProperty", "__defineGetter__"];
  for (const name of PROTOTYPE_NAMES) {
    it(`finds nothing at /${name}`, async () => {
      await expectProblem(await app.get(`/${name}`), { status: 404 });
      await expectProblem(await app.get(`/links/7/${name}`), { status: 404 });
    });

    it(`treats ${name} as an ordinary key in queries, forms and JSON`, async () => {
      const query = await app.get(`/search?${name}=1&${name}=2&a[${name}]=3`);
      const form = await app.post("/form", { body: new URLSearchParams(`${name}=1&a=2`) });
      const json = await app.post("/json", {
        body: `{"${name}":{"admin":true}}`,
        headers: { "Content-Type": "application/json" },
      });

      expect(await query.json()).to.deep.equal([
        [name, ["1", "2"]],
        ["a", { [name]: "3" }],
      ]);
      expect(await form.json()).to.deep.equal([
        [name, "1"],
        ["a", "2"],
      ]);
      expect(await json.text()).to.equal(`{"${name}":{"admin":true}}`);
      expect(({} as { admin?: unknown }).admin).to.equal(undefined);
      expect(Object.hasOwn(Object.prototype, "x")).to.equal(false);
    });
  }

  it("with an unread body leaves the connection to the next request", async () => {
    const bodies = ["GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", get("/links/7")].join("");

    const response = (await app.raw(bodies, PATIENT)).toString();

    expect(response.match(/HTTP\/1\.1 200 OK/g)).to.have.lengthOf(2);
    expect(response).to.include('{"id":"7"}');
  });

  it("gets its response in order between other pipelined requests", async () => {
    const bytes = ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", get("/links/7")].join(
      "",
    );

    const response = (await app.raw(bytes, PATIENT)).toString();

    expect(response.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(["HTTP/1.1 200", "HTTP/1.1 400", "HTTP/1.1 200"]);
  });

  const refused: readonly (readonly [string, string, string])[] = [
    ["without a Host", "GET / HTTP/1.1\r\n\r\n", "400 Bad Request"],
    ["with chunks of gzip", request("PUT /text HTTP/1.1", "Transfer-Encoding: gzip, chunked"), "400 Bad Request"],
    ["with an unknown expectation", get("/", "Expect: tea"), "417 Expectation Failed"],
    [
      "with too many headers",
      get("/", ...Array.from({ length: 2000 }, () => "a:")),
      "431 Request Header Fields Too Large",
    ],
    ["that is none", "nonsense\r\n\r\n", "400 Bad Request"],
  ];
  for (const [what, bytes, status] of refused) {
    it(`${what} is refused in order, with a status line only`, async () => {
      const before = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";

      const response = (await app.raw(`${before}${bytes}${get("/links/7")}`, PATIENT)).toString();

      expect(response.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(["HTTP/1.1 200", `HTTP/1.1 ${status.slice(0, 3)}`]);
      expect(response.endsWith(`in its own timeHTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)).to.equal(true);
    });
  }

  it("that breaks off ends only its own connection", async () => {
    const half = await app.raw("PUT /text HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf", { limitMs: 50 });

    expect(half.toString()).to.equal("");
    expect((await app.get("/")).status).to.equal(200);
  });

  it("gets a response for any target", async function () {
    this.timeout(120_000);
    const character = fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code));
    const piece = fc.oneof(
      character,
      fc.constantFrom("%", "%2", "%2F", "%00", "%ff", "/", "//", "..", "?", "*", "links", "http://"),
    );
    const target = fc.array(piece, { minLength: 1, maxLength: 30 }).map((pieces) => `/${pieces.join("")}`);

    await fc.assert(
      fc.asyncProperty(target, async (each) => {
        const { status } = await ask(get(each));

        expect([200, 400, 404]).to.include(status);
      }),
      { numRuns: 200 },
    );
  });

  it("gets a response or a closed connection for any bytes", async function () {
    this.timeout(120_000);
    const whole = Buffer.from(`${get("/links/7", "Content-Length: 5", "Cookie: a=b")}hello`);
    const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) });

    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const { at, byte } of changes) bytes[at] = byte;

        const response = await app.raw(bytes, { limitMs: 100 });

        // The server waits for the rest of an incomplete request, so there is no response.
        expect(response.length === 0 || read(response).status >= 200).to.equal(true);
      }),
      { numRuns: 150 },
    );
    expect((await app.get("/links/7")).status).to.equal(200);
  });
});
