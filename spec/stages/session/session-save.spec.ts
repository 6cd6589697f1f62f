/** The save at the end of a request: what is saved, when, and with which limits, where requests and times come in an unusual way. */
import { Application, Clock, NotFoundError, provide, Route, Routes, type Context } from "@stagecraft/framework";
import { Flash, MemorySessionStore, Session, SessionConfig, type SessionStore } from "@stagecraft/framework/session";
import { expectProblem, FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Gate } from "../../support/gate.js";
import { PATIENT } from "../../support/patient.js";

const KEY = "5a".repeat(64);
const DAY_MS = 86_400_000;

const routes = (...more: readonly Route[]) =>
  new Routes([
    Route.get("/name", async (ctx: Context) => (await Session.of(ctx).get("name")) ?? "nobody"),
    Route.any("/name/{name}", (ctx: Context<"name">) => Session.of(ctx).put("name", ctx.params.name)),
    Route.post("/messages/{count}", (ctx: Context<"count">) => {
      for (let at = 0; at < Number(ctx.params.count); at++) Flash.of(ctx).info(`message ${at}`);
    }),
    Route.get("/messages", async (ctx: Context) => (await Flash.of(ctx).peek()).messages.map(({ message }) => message)),
    ...more,
  ]);

const start = (store: SessionStore = new MemorySessionStore(), clock: Clock = new FakeClock(), ...more: Route[]) =>
  testApp(
    Application.create()
      .session(new SessionConfig(KEY), store)
      .routes(routes(...more)),
    provide(Clock).useValue(clock),
  );

const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
const named = async (app: TestApp, cookie: string) => (await app.get("/name", { headers: { cookie } })).text();
const messagesOf = async (app: TestApp, cookie: string) =>
  (await app.get("/messages", { headers: { cookie } })).json<string[]>();

describe("saving a session", () => {
  it("keeps the changes of a request that fails with a status", async () => {
    const refusing = Route.post("/refused", (ctx: Context) => {
      Session.of(ctx).put("name", "Eve");
      throw new NotFoundError();
    });
    await using app = await start(undefined, undefined, refusing);
    const cookie = cookieOf(await app.post("/name/Ada"));

    expect((await app.post("/refused", { headers: { cookie } })).status).to.equal(404);
    expect(await named(app, cookie)).to.equal("Eve");
  });

  for (const method of ["HEAD", "OPTIONS"])
    it(`works by ${method} as by every other method`, async () => {
      await using app = await start();

      const cookie = cookieOf(await app.request("/name/Ada", { method }));

      expect(await named(app, cookie)).to.equal("Ada");
    });

  it("keeps the changes of pipelined requests, which run at the same time", async () => {
    const all = Route.get("/all", async (ctx: Context) =>
      Promise.all(["one", "two", "three"].map((name) => Session.of(ctx).get(name))),
    );
    const add = Route.get("/add/{key}", async (ctx: Context<"key">) => {
      await Session.of(ctx).get("name");
      Session.of(ctx).put(ctx.params.key, 1);
      return `added ${ctx.params.key};`;
    });
    await using app = await start(undefined, undefined, add, all);
    const cookie = cookieOf(await app.post("/name/Ada"));
    const request = (key: string, end = "") =>
      `GET /add/${key} HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n${end}\r\n`;

    const bytes = request("one") + request("two") + request("three", "Connection: close\r\n");
    const answers = String(await app.raw(bytes, PATIENT));

    expect(answers.match(/added \w+;/g)).to.deep.equal(["added one;", "added two;", "added three;"]);
    expect(await (await app.get("/all", { headers: { cookie } })).json()).to.deep.equal([1, 1, 1]);
  });

  it("ends the session although the client of the sign-out has left before the response", async () => {
    const begun = new Gate();
    const goOn = new Gate();
    const ended = new Gate();
    const store = new (class extends MemorySessionStore {
      override end(key: string, now: number): void {
        super.end(key, now);
        ended.open();
      }
    })();
    const signOut = Route.post("/sign-out", async (ctx: Context) => {
      Session.of(ctx).flush();
      begun.open();
      await goOn.passed;
    });
    await using app = await start(store, undefined, signOut);
    const cookie = cookieOf(await app.post("/name/Ada"));
    const client = new AbortController();

    const answer = app.post("/sign-out", { headers: { cookie }, signal: client.signal }).catch(() => "left");
    await begun.passed;
    client.abort();
    expect(await answer).to.equal("left");
    goOn.open();
    await ended.passed;

    expect(await named(app, cookie)).to.equal("nobody");
  });

  it("uses the times of the record if the clock jumps back and forth", async () => {
    const clock = new FakeClock();
    await using app = await start(undefined, clock);
    const at = clock.now();
    clock.setNow(at + 3_600_000);
    const cookie = cookieOf(await app.post("/name/Ada"));

    clock.setNow(at);
    expect(await named(app, cookie)).to.equal("Ada");
    expect((await app.post("/name/Eve", { headers: { cookie } })).headers.getSetCookie()).to.deep.equal([]);
    clock.setNow(at + 3_600_000 + 14 * DAY_MS - 1);
    expect(await named(app, cookie)).to.equal("Eve");
    clock.setNow(at + 3_600_000 + 40 * DAY_MS);
    expect(await named(app, cookie)).to.equal("nobody");
  });
});

describe("a session's messages", () => {
  it("are bounded also if one request adds all of them, and the latest stay", async () => {
    await using app = await start();
    const latest = Array.from({ length: 50 }, (_, at) => `message ${950 + at}`);

    const begun = cookieOf(await app.post("/messages/1000"));
    const cookie = cookieOf(await app.post("/name/Ada"));
    await app.post("/messages/1000", { headers: { cookie } });

    expect(await messagesOf(app, begun)).to.deep.equal(latest);
    expect(await messagesOf(app, cookie)).to.deep.equal(latest);
    expect(app.logs.transcript()).to.include("flash messages dropped");
  });

  it("extend no session that holds nothing but the flash, also if their number is reduced", async () => {
    const clock = new FakeClock();
    await using app = await start(undefined, clock);
    const cookie = cookieOf(await app.post("/messages/200"));

    await app.post("/messages/200", { headers: { cookie } });
    expect(await messagesOf(app, cookie)).to.have.lengthOf(50);
    clock.advance(600_000);

    expect(await messagesOf(app, cookie)).to.deep.equal([]);
  });

  it("create a new session if the old one expires while the request is running", async () => {
    const clock = new FakeClock();
    const slow = Route.post("/slow", async (ctx: Context) => {
      await Session.of(ctx).get("name");
      clock.advance(2);
      Flash.of(ctx).info("late");
    });
    await using app = await start(undefined, clock, slow);
    const cookie = cookieOf(await app.post("/messages/1"));
    clock.advance(600_000 - 1);

    const begun = cookieOf(await app.post("/slow", { headers: { cookie } }));

    expect(await messagesOf(app, begun)).to.deep.equal(["late"]);
  });
});

describe("a session that gets a new id", () => {
  it("is a 503 if no id is free, because its old id would stay valid", async () => {
    let tries = 0;
    const store = new (class extends MemorySessionStore {
      override move(): "taken" {
        tries++;
        return "taken";
      }
    })();
    const signIn = Route.post("/sign-in", (ctx: Context) => {
      Session.of(ctx).regenerate();
      Session.of(ctx).put("user", 7);
    });
    await using app = await start(store, undefined, signIn);
    const cookie = cookieOf(await app.post("/name/Ada"));

    const response = await app.post("/sign-in", { headers: { cookie } });

    await expectProblem(response, { status: 503, slug: "unavailable" });
    expect(response.headers.getSetCookie()).to.deep.equal([]);
    expect(tries).to.equal(8);
  });
});
