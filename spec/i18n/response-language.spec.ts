/** The headers of a translated response over a real socket, for each kind of request and with sessions of each state. */
import { Application, type Context, ErrorMapping, provide, redirect, Route, Routes } from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { Flash, MemorySessionStore, SessionConfig, type StoredSession } from "@stagecraft/framework/session";
import { type TestApp, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Gate } from "../support/gate.js";

const KEY = "0123456789abcdef".repeat(8);
const CATALOGS = { en: "hello = Hello", de: "hello = Hallo", ar: "hello = مرحبا" };

/** Opened by the client of a stream. */
let headReceived = new Gate();

function createBuilder(catalogs: Readonly<Record<string, string>> = CATALOGS) {
  headReceived = new Gate();
  const languages = new Languages({ default: "en", catalogs });
  const greet = async (ctx: Context) => (await languages.of(ctx)).t("hello");
  const handlers: Readonly<Record<string, (ctx: Context) => unknown>> = {
    "/": greet,
    "/public": (ctx) => {
      ctx.set("Cache-Control", "public, max-age=60");
      return greet(ctx);
    },
    "/tagged": async (ctx) => {
      const { tag, t } = await languages.of(ctx);
      ctx.set("ETag", `"${tag}"`);
      ctx.status = 200;
      ctx.body = t("hello");
      if (ctx.fresh) ctx.status = 304;
    },
    "/streamed": async function* (ctx) {
      yield "first, ";
      await headReceived.passed;
      yield await greet(ctx);
    },
    "/moved": async (ctx) =>
      redirect()
        .to("/shown")
        .with("notice", await greet(ctx)),
    "/shown": (ctx) => Flash.of(ctx).take(),
  };
  return Application.create()
    .provide(provide(Languages).useValue(languages))
    .errorMapping(new ErrorMapping())
    .routes(new Routes(Object.entries(handlers).map(([path, handler]) => Route.any(path, handler))));
}

const accepting = (tag: string, more: Readonly<Record<string, string>> = {}) => ({
  headers: { "Accept-Language": tag, ...more },
});

describe("a translated response", () => {
  let app: TestApp;

  beforeEach(async () => {
    app = await testApp(createBuilder());
  });

  afterEach(() => app[Symbol.asyncDispose]());

  const requests: readonly (readonly [title: string, head: string, body: string])[] = [
    ["to two header fields", "GET / HTTP/1.1\r\nAccept-Language: fr\r\naccept-language: de", ""],
    ["to HEAD", "HEAD /?lang=de HTTP/1.1", ""],
    ["to a target with a host", "GET http://evil.example/?lang=de HTTP/1.1", ""],
    ["to a POST, whose query decides and not its form", "POST /?lang=de HTTP/1.1\r\nContent-Length: 7", "lang=ar"],
    ["to a parameter in percent-encoding", "GET /?%6Cang=%64%65 HTTP/1.1", ""],
    ["to the first of two parameters", "GET /?lang=de&lang=ar HTTP/1.1", ""],
    ["to a parameter after many", `GET /?${"a=1&".repeat(2000)}lang=de HTTP/1.1`, ""],
  ];
  for (const [title, head, body] of requests) {
    it(`has its language and Vary: ${title}`, async () => {
      const response = String(await app.raw(`${head}\r\nHost: x\r\nConnection: close\r\n\r\n${body}`));

      expect(response).to.match(/^HTTP\/1\.1 200 /);
      expect(response).to.include("\r\nContent-Language: de\r\n").and.include("\r\nVary: Accept-Language\r\n");
    });
  }

  it("is another one for each language at a cache: a 304 has Vary, and no entity tag of another language matches", async () => {
    const same = await app.get("/tagged", accepting("de", { "If-None-Match": '"de"' }));
    const other = await app.get("/tagged", accepting("ar", { "If-None-Match": '"de"' }));

    expect([same.status, other.status]).to.deep.equal([304, 200]);
    expect(same.headers.get("vary")).to.equal("Accept-Language");
  });

  it("has the text where the head is sent already", async () => {
    const response = await app.get("/streamed", accepting("de"));
    headReceived.open();

    expect(await response.text()).to.equal("first, Hallo");
    expect(response.headers.get("content-language")).to.equal(null);
  });

  it("is the default where the client refuses it, because a star is not a language", async () => {
    for (const header of ["en;q=0", "en;q=0, *", "*;q=0", "*;q=0, en;q=0"]) {
      const response = await app.get("/", accepting(header));

      expect([response.status, response.headers.get("content-language")]).to.deep.equal([200, "en"]);
    }
  });
});

describe("a translated response with sessions", () => {
  it("varies by the cookie: no shared cache sends the language of one visitor to another", async () => {
    await using app = await testApp(createBuilder().session(new SessionConfig(KEY)));
    const visitor = app.withCookies();
    await visitor.get("/?lang=de");

    const public_ = await visitor.get("/public", accepting("ar"));
    const problem = await app.get("/public", accepting("ar"));

    for (const response of [public_, problem]) expect(response.headers.get("vary")).to.equal("Accept-Language, Cookie");
    expect(await public_.text()).to.equal("Hallo");
  });

  it("has the language of the header where that of the session is no longer offered", async () => {
    const store = new MemorySessionStore();
    await using before = await testApp(createBuilder().session(new SessionConfig(KEY), store));
    const chosen = await before.get("/?lang=ar");
    await using after = await testApp(
      createBuilder({ en: "hello = Hello", de: "hello = Hallo" }).session(new SessionConfig(KEY), store),
    );
    const cookie = (chosen.headers.getSetCookie()[0] ?? "").replace(/;.*/, "");

    const response = await after.get("/", accepting("de", { cookie }));

    expect(chosen.headers.get("content-language")).to.equal("ar");
    expect(response.headers.get("content-language")).to.equal("de");
  });

  it("waits for a store that answers late", async () => {
    const found = new Gate();
    const store = new (class extends MemorySessionStore {
      override load(...args: Parameters<MemorySessionStore["load"]>) {
        // The store in memory declares no promise, which every other store returns.
        return found.passed.then(() => super.load(...args)) as unknown as StoredSession | undefined;
      }
    })();
    await using app = await testApp(createBuilder().session(new SessionConfig(KEY), store));
    const visitor = app.withCookies();
    await visitor.get("/?lang=de");

    const response = visitor.get("/", accepting("ar"));
    found.open();

    expect(await (await response).text()).to.equal("Hallo");
  });

  it("is a 503 where the store fails, also with a parameter", async () => {
    let fails = false;
    const store = new (class extends MemorySessionStore {
      override load(...args: Parameters<MemorySessionStore["load"]>) {
        if (fails) throw new Error("down");
        return super.load(...args);
      }
    })();
    await using app = await testApp(createBuilder().session(new SessionConfig(KEY), store));
    const visitor = app.withCookies();
    await visitor.get("/?lang=de");
    fails = true;

    const statuses = await Promise.all(["/", "/?lang=ar"].map(async (path) => (await visitor.get(path)).status));

    expect(statuses).to.deep.equal([503, 503]);
  });

  it("leaves the text of a flash message in the language of the request that wrote it", async () => {
    await using app = await testApp(createBuilder().session(new SessionConfig(KEY)));
    const visitor = app.withCookies();

    const moved = await visitor.post("/moved", accepting("de"));
    const shown = await visitor.get("/shown", accepting("ar"));

    expect(moved.status).to.equal(303);
    expect(await shown.text()).to.include("Hallo");
  });
});
