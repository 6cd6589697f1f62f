import { Readable } from "node:stream";
import { expect } from "chai";
import { Application, Clock, provide, Reply, Route, Routes, type Context } from "../../lib/entries/main.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import { rejectionOf } from "../support/rejection-of.js";

async function mirror(ctx: Context): Promise<unknown> {
  return { method: ctx.method, url: ctx.url, headers: ctx.req.rawHeaders, body: await ctx.text() };
}

const clock = new FakeClock();
const setCookie =
  (...lines: readonly string[]) =>
  (ctx: Context) => {
    ctx.res.setHeader("Set-Cookie", lines);
    return "";
  };
const routes = new Routes([
  Route.any("/mirror", mirror),
  Route.any("/mirror/{*rest}", mirror),
  Route.get("/redirect", () => Reply.empty(302).header("Location", "/mirror")),
  Route.get("/login", setCookie("id=1; Path=/; HttpOnly; Secure", "short=2; Max-Age=60", "deep=3; Path=/mirror/deep")),
  Route.get("/logout", setCookie("id=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT")),
  Route.get("/area/login", setCookie("area=1")),
  Route.get("/broken", () => Readable.from(failing())),
]);

async function* failing(): AsyncGenerator<string> {
  yield "first";
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error("disk on fire");
}

/** The request as the route `/mirror` received it. */
const seen = async (response: Response) =>
  (await response.json()) as { method: string; url: string; headers: string[]; body: string };

async function cookies(response: Response): Promise<string | undefined> {
  const { headers } = await seen(response);
  const at = headers.findIndex((name) => name.toLowerCase() === "cookie");
  return at < 0 ? undefined : headers[at + 1];
}

describe("the client of a test application", () => {
  let app: TestApp;

  before(async () => {
    app = await testApp(Application.create().routes(routes).provide(provide(Clock).useValue(clock)));
  });
  after(() => app.stop());

  it("opens the whole URL of a mail by its path and its query", async () => {
    const response = await app.get("https://shop.example/mirror/deep?a=1&b=%20");

    expect((await seen(response)).url).to.equal("/mirror/deep?a=1&b=%20");
  });

  it("types the JSON of a response", async () => {
    const response = await app.post("/mirror", { body: "hello" });

    const { method, body } = await response.json<{ method: string; body: string }>();

    expect(`${method.toLowerCase()} ${body.length}`).to.equal("post 5");
    expect(response).to.be.instanceOf(Response);
  });

  for (const method of ["get", "post", "put", "patch", "delete", "options"] as const) {
    it(`sends ${method.toUpperCase()}, with a body if one is given`, async () => {
      const response = await app[method]("/mirror", { body: "hello" });

      expect(await seen(response)).to.include({ method: method.toUpperCase(), body: "hello" });
    });
  }

  it("sends HEAD and receives no body", async () => {
    const response = await app.head("/mirror");

    expect([response.status, await response.text()]).to.deep.equal([200, ""]);
  });

  it("sends any other method", async () => {
    const response = await app.request("/mirror", { method: "PROPFIND" });

    expect(await seen(response)).to.include({ method: "PROPFIND" });
  });

  for (const path of ["/mirror//a/../b/./c", "/mirror/%2f%7E", "/mirror?a=b&c=?/#x"]) {
    it(`sends the target ${path} unchanged`, async () => {
      const response = await app.get(path);

      expect(await seen(response)).to.include({ url: path });
    });
  }

  it("encodes characters that a request line may not hold", async () => {
    const response = await app.get("/mirror/grüße ☃");

    expect(await seen(response)).to.include({ url: "/mirror/gr%C3%BC%C3%9Fe%20%E2%98%83" });
  });

  it("refuses an empty path", async () => {
    expect((await rejectionOf(app.get(""))).message).to.include('write "/"');
  });

  it("sends headers unchanged, also repeated ones", async () => {
    const response = await app.get("/mirror", { headers: { "X-Odd-CASE": ["1", "2"], Host: "elsewhere" } });

    const { headers } = await seen(response);
    expect(headers.join("|")).to.include("X-Odd-CASE|1|X-Odd-CASE|2").and.to.include("Host|elsewhere");
    expect(headers.filter((name) => name === "Host")).to.have.lengthOf(1);
  });

  it("takes a Headers object", async () => {
    const response = await app.get("/mirror", { headers: new Headers({ "x-a": "1" }) });

    expect((await seen(response)).headers.join("|")).to.include("x-a|1");
  });

  const bodies = [
    ["json", { json: { a: 1 } }, "application/json", '{"a":1}'],
    ["json null", { json: null }, "application/json", "null"],
    ["form", { form: { a: "b c", d: ["1", "2"] } }, "application/x-www-form-urlencoded;charset=UTF-8", "a=b+c&d=1&d=2"],
    ["text", { body: "x" }, "text/plain;charset=UTF-8", "x"],
    ["a stream", { body: Readable.from(["x", "y"]) }, undefined, "xy"],
    ["a type of its own", { body: "x", headers: { "content-type": "text/csv" } }, "text/csv", "x"],
  ] as const;
  for (const [name, options, type, text] of bodies) {
    it(`sends ${name} as a body with its media type`, async () => {
      const { headers, body } = await seen(await app.post("/mirror", options));

      const at = headers.findIndex((each) => each.toLowerCase() === "content-type");
      expect([at < 0 ? undefined : headers[at + 1], body]).to.deep.equal([type, text]);
    });
  }

  it("does not follow redirects", async () => {
    const response = await app.get("/redirect");

    expect([response.status, response.headers.get("location")]).to.deep.equal([302, "/mirror"]);
  });

  it("rejects the reading of a body that was cut", async () => {
    const response = await app.get("/broken");

    expect(response.status).to.equal(200);
    expect(await rejectionOf(response.text())).to.be.instanceOf(Error);
  });

  it("aborts at the given signal", async () => {
    const signal = AbortSignal.abort();

    expect(await rejectionOf(app.get("/mirror", { signal }))).to.have.property("name", "AbortError");
  });

  it("keeps no cookies", async () => {
    await app.get("/login");

    const { headers } = await seen(await app.get("/mirror"));
    expect(headers.map((name) => name.toLowerCase())).not.to.include("cookie");
  });

  describe("with cookies", () => {
    it("sends cookies where their path matches, the longest path first", async () => {
      const browser = app.withCookies();
      await browser.get("/login");

      expect(await cookies(await browser.get("/mirror?x"))).to.equal("id=1; short=2");
      expect(await cookies(await browser.get("/mirror/deep/er"))).to.equal("deep=3; id=1; short=2");
      expect(await cookies(await browser.get("/mirror/deeper"))).to.equal("id=1; short=2");
    });

    it("uses the directory of the request as the path of a cookie without a path", async () => {
      const browser = app.withCookies();
      await browser.get("/area/login");

      expect(await cookies(await browser.get("/mirror"))).to.equal(undefined);
    });

    it("drops cookies when they are deleted, and when they expire by the application's clock", async () => {
      const browser = app.withCookies();
      await browser.get("/login");

      await browser.get("/logout");
      expect(await cookies(await browser.get("/mirror"))).to.equal("short=2");
      clock.advance(60_000);
      expect(await cookies(await browser.get("/mirror"))).to.equal(undefined);
    });

    it("keeps the cookies of two clients apart", async () => {
      const [one, other] = [app.withCookies(), app.withCookies()];
      await one.get("/login");

      expect(await cookies(await other.get("/mirror"))).to.equal(undefined);
    });

    it("sends a given cookie header in place of the stored cookies", async () => {
      const browser = app.withCookies();
      await browser.get("/login");

      expect(await cookies(await browser.get("/mirror", { headers: { Cookie: "own=1" } }))).to.equal("own=1");
    });
  });

  describe("raw", () => {
    it("returns the received bytes when the connection closes", async () => {
      const received = await app.raw("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

      expect(received.toString()).to.match(/^HTTP\/1\.1 404 Not Found\r\n/);
    });

    it("returns the received bytes after a silence", async () => {
      const received = await app.raw("GET /redirect HTTP/1.1\r\nHost: x\r\n\r\n", { quietMs: 20 });

      expect(received.toString()).to.match(/^HTTP\/1\.1 302 /);
    });

    it("returns the bytes that arrive in a process that was stopped for longer than the limit", async () => {
      const asked = app.raw("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", { limitMs: 500 });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);

      expect((await asked).toString()).to.match(/^HTTP\/1\.1 404 Not Found\r\n/);
    });

    it("returns no bytes if none arrive within the limit", async () => {
      const received = await app.raw("GET / HT", { limitMs: 30 });

      expect(received).to.have.lengthOf(0);
    });
  });
});
