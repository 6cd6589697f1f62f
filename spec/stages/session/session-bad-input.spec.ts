import {
  AppConfig,
  Application,
  Clock,
  provide,
  redirect,
  Reply,
  Route,
  Routes,
  type Context,
} from "@stagecraft/framework";
import {
  MemorySessionStore,
  Session,
  SessionConfig,
  sessionKey,
  type SessionOptions,
  type StoredSession,
} from "@stagecraft/framework/session";
import { context, expectNoLeak, expectProblem, FakeClock, testApp } from "@stagecraft/framework/testing";
import { obeysLayerContract } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { z } from "zod";
import { SessionKeys } from "../../../lib/stages/session/session-keys.js";
import { Gate } from "../../support/gate.js";

const KEY = "5a".repeat(64);
const DAY_MS = 86_400_000;

const routes = (...more: readonly Route[]) =>
  new Routes([
    Route.get("/name", async (ctx: Context) => (await Session.of(ctx).get("name")) ?? "nobody"),
    Route.post("/name/{name}", (ctx: Context<"name">) => Session.of(ctx).put("name", ctx.params.name)),
    Route.post("/login", (ctx: Context) => {
      Session.of(ctx).regenerate();
      Session.of(ctx).put("user", 7);
    }),
    Route.post("/logout", (ctx: Context) => Session.of(ctx).flush()),
    ...more,
  ]);

const start = (store = new MemorySessionStore(), clock: Clock = new FakeClock(), ...more: readonly Route[]) =>
  testApp(
    Application.create()
      .session(new SessionConfig(KEY), store)
      .routes(routes(...more)),
    provide(Clock).useValue(clock),
  );

const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(";")[0] ?? "";

/** The next character at the end: in base64url it may stand for the same bytes. */
const spare = (text: string) => text.slice(0, -1) + String.fromCodePoint((text.codePointAt(text.length - 1) ?? 0) + 1);

/** The values of a session with one long text. */
const textOf = (length: number) => new Map([["text", "x".repeat(length)]]);

const shared = (path: string, work: (session: Session) => unknown) =>
  Route.get(path, async (ctx: Context) => {
    ctx.set("Cache-Control", "public, max-age=60");
    await work(Session.of(ctx));
    return "for all";
  });

/** Counts the calls of a store in memory. */
class CountingStore extends MemorySessionStore {
  loads = 0;

  override load(key: string, now: number): StoredSession | undefined {
    this.loads++;
    return super.load(key, now);
  }
}

describe("a session's cookie", () => {
  it("is anonymous unless it is exactly the cookie that was sent, and the store is not read for another one", async () => {
    const store = new CountingStore();
    await using app = await start(store);
    const [ada, eve] = [cookieOf(await app.post("/name/Ada")), cookieOf(await app.post("/name/Eve"))];
    const value = ada.slice("__Host-id=".length);
    const [id = "", mac = ""] = value.split(".");
    const wrong = [
      "",
      "__Host-id",
      "__Host-id=",
      `__Host-id=${id}`,
      `__Host-id=${id}.`,
      `__Host-id=.${mac}`,
      `__Host-id=${id}-${mac}`,
      `__Host-id=${value.slice(0, -1)}`,
      `__Host-id=${value}A`,
      `__Host-id=${spare(value)}`,
      `__Host-id=${id.slice(1)}A.${mac}`,
      `__Host-id=${id}.${eve.split(".")[1] ?? ""}`,
      `__Host-id="${value}"`,
      `__Host-id=${value}%20`,
      `__host-id=${value}`,
      `framework-id=${value}`,
      `x__Host-id=${value}`,
      `a=b __Host-id=${value}`,
      `__Host-id=${"A".repeat(8000)}`,
      `__Host-id=${randomBytes(16).toString("base64url")}.${randomBytes(32).toString("base64url")}`,
      Array.from({ length: 1000 }, () => "__Host-id=x").join("; "),
      `${"__Host-id=x; ".repeat(4)}${ada}`,
    ];
    for (const cookie of wrong) {
      const response = await app.get("/name", { headers: { cookie } });
      expect(await response.text(), cookie.slice(0, 80)).to.equal("nobody");
      expect(response.headers.getSetCookie()).to.deep.equal([]);
    }
    expect(store.loads).to.equal(0);
  });

  it("is not verified with a character whose low byte is the right one", () => {
    const keys = new SessionKeys(KEY);
    const mac = keys.sign("text");
    const beyond = String.fromCodePoint((mac.codePointAt(0) ?? 0) + 0x100) + mac.slice(1);

    expect([keys.verifies("text", mac), keys.verifies("text", beyond)]).to.deep.equal([true, false]);
  });

  it("is found among a thousand others, and behind a planted one", async () => {
    await using app = await start();
    const ada = cookieOf(await app.post("/name/Ada"));
    const others = Array.from({ length: 1000 }, (_, at) => `c${at}=${at % 10}`).join("; ");

    for (const cookie of [`${others}; ${ada}`, `${ada};${others}`, `__Host-id=planted; ${ada}`, `  ${ada} ;x`])
      expect(await (await app.get("/name", { headers: { cookie } })).text()).to.equal("Ada");
  });

  it("is anonymous if its session is unknown, and the next put creates a new session", async () => {
    const other = await start();
    const cookie = cookieOf(await other.post("/name/Ada"));
    await other.stop();
    await using app = await start();

    expect(await (await app.get("/name", { headers: { cookie } })).text()).to.equal("nobody");
    const begun = cookieOf(await app.post("/name/Eve", { headers: { cookie } }));

    expect(begun).to.be.a("string").and.not.equal(cookie).and.not.equal("");
    expect(await (await app.get("/name", { headers: { cookie: begun } })).text()).to.equal("Eve");
    expect(await (await app.get("/name", { headers: { cookie } })).text()).to.equal("nobody");
  });

  it("is worth nothing after a sign-in if an attacker planted it", async () => {
    await using app = await start();
    const planted = cookieOf(await app.post("/name/attacker"));

    await app.post("/login", { headers: { cookie: planted } });

    expect(await (await app.get("/name", { headers: { cookie: planted } })).text()).to.equal("nobody");
  });

  it("is not replaced after a sign-in by a slow request that started before it", async () => {
    const begun = new Gate();
    const goOn = new Gate();
    const clock = new FakeClock();
    const slow = (name: string, work: (ctx: Context) => unknown) =>
      Route.post(name, async (ctx: Context) => {
        begun.open();
        await goOn.passed;
        return work(ctx);
      });
    const only = slow("/only-put", (ctx) => Session.of(ctx).put("x", 1));
    const reading = slow("/read", async (ctx) => ({ name: await Session.of(ctx).get("name") }));
    await using app = await start(undefined, clock, only, reading);
    const cookie = cookieOf(await app.post("/name/Ada"));
    clock.advance(120_000);

    const late = [app.post("/only-put", { headers: { cookie } }), app.post("/read", { headers: { cookie } })];
    await begun.passed;
    clock.advance(1000);
    await app.post("/login", { headers: { cookie } });
    clock.advance(1000);
    goOn.open();

    for (const response of await Promise.all(late)) expect(response.headers.getSetCookie()).to.deep.equal([]);
  });

  it("is not sent after the head, with a WARN event, and the session is still saved", async () => {
    const byHand = Route.post("/by-hand", (ctx: Context) => {
      ctx.res.writeHead(200);
      ctx.res.write("begun");
      Session.of(ctx).put("name", "late");
      ctx.res.end();
    });
    await using app = await start(undefined, undefined, byHand);
    const cookie = cookieOf(await app.post("/name/Ada"));

    await (await app.post("/by-hand", { headers: { cookie } })).text();
    await (await app.post("/by-hand")).text();

    expect(await (await app.get("/name", { headers: { cookie } })).text()).to.equal("late");
    expect(app.logs.transcript()).to.include("session cookie not set");
  });

  it("is never set on a response that shared caches keep", async () => {
    const clock = new FakeClock();
    const [reading, writing] = [
      shared("/read", (session) => session.get("name")),
      shared("/write", (session) => session.put("a", 1)),
    ];
    await using app = await start(undefined, clock, reading, writing);
    const cookie = cookieOf(await app.post("/name/Ada"));
    clock.advance(120_000);

    const read = await app.get("/read", { headers: { cookie } });
    expect(read.headers.getSetCookie()).to.deep.equal([]);
    expect(read.headers.get("cache-control")).to.equal("public, max-age=60");
    const begun = await app.get("/write");
    expect(begun.headers.getSetCookie()).to.have.lengthOf(1);
    expect(begun.headers.get("cache-control")).to.equal("no-store");
  });

  it("is read with any of the keys, and written with the first", async () => {
    const store = new MemorySessionStore();
    const clock = new FakeClock();
    const other = "a5".repeat(64);
    const app = (key: string | string[]) =>
      testApp(
        Application.create().session(new SessionConfig(key), store).routes(routes()),
        provide(Clock).useValue(clock),
      );
    await using before = await app(KEY);
    await using after = await app([other, KEY]);
    await using last = await app(other);
    const cookie = cookieOf(await before.post("/name/Ada"));

    clock.advance(60_000);
    const renewed = await after.get("/name", { headers: { cookie } });

    expect(await renewed.text()).to.equal("Ada");
    expect(await (await last.get("/name", { headers: { cookie: cookieOf(renewed) } })).text()).to.equal("Ada");
    expect(await (await last.get("/name", { headers: { cookie } })).text()).to.equal("nobody");
  });
});

describe("a session's store", () => {
  const failures: readonly (readonly [string, () => StoredSession | Promise<StoredSession>])[] = [
    [
      "throws",
      () => {
        throw new Error("canary-detail");
      },
    ],
    ["rejects", () => Promise.reject(new Error("canary-detail"))],
    [
      "returns another visitor's record",
      () => ({ key: "another", values: new Map([["name", '"Eve"']]), renewedAt: 0 }),
    ],
    [
      "returns another visitor's record later",
      async () => ({ key: "another", values: new Map([["name", '"Eve"']]), renewedAt: 0 }),
    ],
    ["returns garbage", () => "garbage" as unknown as StoredSession],
    ["returns null", () => null as unknown as StoredSession],
  ];
  for (const [title, load] of failures)
    it(`makes the response a 503 if it ${title}`, async () => {
      const store = new (class extends MemorySessionStore {
        override load(): never {
          return load() as never;
        }
      })();
      const caught = Route.get("/caught", async (ctx: Context) => {
        await Session.of(ctx)
          .get("name")
          .catch(() => undefined);
        ctx.set("Content-Disposition", "attachment");
        return "as if nobody were signed in";
      });
      await using app = await start(store, undefined, caught);
      const cookie = cookieOf(await app.post("/name/Ada"));

      for (const path of ["/name", "/caught"]) {
        const response = await app.get(path, { headers: { cookie } });
        const problem = await expectProblem(response, { status: 503, slug: "unavailable" });
        expect(problem.detail).to.equal("The session store is unavailable. Please try again shortly.");
        expect(response.headers.has("content-disposition")).to.equal(false);
      }
      expect(await (await app.get("/name")).text()).to.equal("nobody");
    });

  for (const [title, broken] of [
    ["names", { values: new Map([[5, '"1"']]) }],
    ["values", { values: new Map([["name", 5]]) }],
    ["times", { renewedAt: undefined }],
  ] as const)
    it(`makes the response a 503 if it returns a record with broken ${title}`, async () => {
      const store = new (class extends MemorySessionStore {
        override load(key: string, now: number): StoredSession | undefined {
          const record = super.load(key, now);
          return record === undefined ? undefined : ({ ...record, ...broken } as unknown as StoredSession);
        }
      })();
      await using app = await start(store);
      const cookie = cookieOf(await app.post("/name/Ada"));

      await expectProblem(await app.get("/name", { headers: { cookie } }), { status: 503, slug: "unavailable" });
    });

  it("makes the response a 503 if it holds a value that is not JSON", async () => {
    const store = new (class extends MemorySessionStore {
      override load(key: string, now: number): StoredSession | undefined {
        const record = super.load(key, now);
        return record === undefined ? undefined : { ...record, values: new Map([["name", "{broken"]]) };
      }
    })();
    await using app = await start(store);
    const cookie = cookieOf(await app.post("/name/Ada"));

    await expectProblem(await app.get("/name", { headers: { cookie } }), { status: 503 });
  });

  it("discards the response if it fails to save", async () => {
    const store = new (class extends MemorySessionStore {
      override create(): never {
        throw new Error("full");
      }
    })();
    await using app = await start(store);

    const response = await app.post("/name/Ada");

    await expectProblem(response, { status: 503 });
    expect(response.headers.getSetCookie()).to.deep.equal([]);
    expect(app.logs.transcript()).to.include("session store failed").and.include("full");
  });

  it("makes the response a 503 if it returns nothing for five seconds", async () => {
    const clock = new FakeClock();
    const asked = new Gate();
    const store = new (class extends MemorySessionStore {
      override load(): never {
        asked.open();
        return new Promise(() => {}) as never;
      }
    })();
    await using app = await start(store, clock);
    const cookie = cookieOf(await app.post("/name/Ada"));

    const response = app.get("/name", { headers: { cookie } });
    await asked.passed;
    await clock.advanceAsync(5000);

    await expectProblem(await response, { status: 503 });
  });

  for (const garbage of [undefined, null, "garbage", 42, {}])
    it(`makes the response a 503 without a cookie if it returns ${JSON.stringify(garbage)} from a save`, async () => {
      const store = new (class extends MemorySessionStore {
        isGarbled = false;
        override create(...args: Parameters<MemorySessionStore["create"]>): boolean {
          return this.isGarbled ? (garbage as never) : super.create(...args);
        }
        override update(): never {
          return garbage as never;
        }
        override move(): never {
          return garbage as never;
        }
      })();
      await using app = await start(store);
      const cookie = cookieOf(await app.post("/name/Ada"));
      store.isGarbled = true;

      for (const [path, sent] of [
        ["/name/Eve", cookie],
        ["/login", cookie],
        ["/name/Eve", ""],
      ] as const) {
        const response = await app.post(path, { headers: { cookie: sent } });
        await expectProblem(response, { status: 503, slug: "unavailable" });
        expect(response.headers.getSetCookie()).to.deep.equal([]);
      }
    });

  it("gets another id if one is in use, at most eight", async () => {
    let tries = 0;
    const store = new (class extends MemorySessionStore {
      override create(): boolean {
        tries++;
        return false;
      }
    })();
    await using app = await start(store);

    await expectProblem(await app.post("/name/Ada"), { status: 503 });
    expect(tries).to.equal(8);
  });

  it("is bounded in memory, and forgets expired sessions", async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ maxSessions: 3 });
    await using app = await start(store, clock);
    const cookies: string[] = [];
    for (const name of ["one", "two", "three", "four"]) cookies.push(cookieOf(await app.post(`/name/${name}`)));
    const names = await Promise.all(
      cookies.map(async (cookie) => (await app.get("/name", { headers: { cookie } })).text()),
    );

    expect(names).to.deep.equal(["nobody", "two", "three", "four"]);
    expect(store.size).to.equal(3);
    clock.advance(14 * DAY_MS);
    await app.post("/name/five");
    expect(store.size).to.equal(1);
    expect(store.sweepExpired(clock.now() + 14 * DAY_MS)).to.equal(1);
    expect(() => new MemorySessionStore({ maxSessions: 0 })).to.throw("maxSessions is a whole number from 1, not 0");
  });

  it("drops sessions in memory that hold nothing but the flash before it drops another one", async () => {
    const clock = new FakeClock();
    const store = new MemorySessionStore({ maxSessions: 10, maxBytes: 1_000_000 });
    const refused = Route.post("/refused/{size}", (ctx: Context<"size">) =>
      redirect()
        .withErrors({ a: "wrong" })
        .withInput({ a: "a".repeat(Number(ctx.params.size)) }),
    );
    await using app = await start(store, clock, refused);
    const ada = cookieOf(await app.post("/name/Ada"));
    const name = async () => (await app.get("/name", { headers: { cookie: ada } })).text();

    for (let sent = 0; sent < 30; sent++) await app.post("/refused/1");
    expect([store.size, await name()]).to.deep.equal([10, "Ada"]);
    for (let sent = 0; sent < 30; sent++) await app.post("/refused/30000");
    expect([store.size <= 10, await name()]).to.deep.equal([true, "Ada"]);
    clock.advance(600_000);
    for (let sent = 0; sent < 5; sent++) await app.post("/name/Eve");
    expect([store.size, await name()]).to.deep.equal([6, "Ada"]);
  });

  it("is bounded in bytes in memory, also if a session grows, and keeps the session that was written", () => {
    const store = new MemorySessionStore({ maxBytes: 100_000 });
    const times = { now: 1000, startedAt: 1000, idleMs: DAY_MS, absoluteMs: DAY_MS, renew: true };
    const kept = () => ["first", "second", "third", "fourth"].filter((key) => store.load(key, 1000) !== undefined);

    for (const key of ["first", "second", "third"]) store.create(key, textOf(15_000), times);
    expect(kept()).to.deep.equal(["first", "second", "third"]);
    store.create("fourth", textOf(15_000), times);
    expect(kept()).to.deep.equal(["second", "third", "fourth"]);
    store.update("second", { set: textOf(25_000), deleted: [] }, times);
    expect(kept()).to.deep.equal(["second", "fourth"]);
    store.end("second", 1000);
    store.create("third", textOf(15_000), times);
    expect(kept()).to.deep.equal(["third", "fourth"]);
    store.move("fourth", "first", { set: textOf(60_000), deleted: [] }, times);
    expect(kept()).to.deep.equal(["first"]);
    expect(() => new MemorySessionStore({ maxBytes: 1.5 })).to.throw("maxBytes is a whole number from 1, not 1.5");
  });

  it("remembers in memory a bounded number of ended sessions, the latest ones", () => {
    const store = new MemorySessionStore({ maxSessions: 3 });
    const times = { now: 1000, startedAt: 1000, idleMs: DAY_MS, absoluteMs: DAY_MS, renew: true };
    const keys = ["first", "second", "third", "fourth"];

    for (const key of keys) store.end(key, 1000);

    expect(keys.map((key) => store.update(key, { set: new Map(), deleted: [] }, times))).to.deep.equal([
      "unknown",
      "ended",
      "ended",
      "ended",
    ]);
  });

  it("is not called after a timeout", async () => {
    const clock = new FakeClock();
    const begun = new Gate();
    const goOn = new Gate();
    const slow = Route.post("/slow", async (ctx: Context) => {
      Session.of(ctx).put("name", "late");
      begun.open();
      await goOn.passed;
    });
    const builder = Application.create().session(new SessionConfig(KEY)).timeout(1000).routes(routes(slow));
    await using app = await testApp(builder, provide(Clock).useValue(clock));
    const cookie = cookieOf(await app.post("/name/Ada"));

    const response = app.post("/slow", { headers: { cookie } });
    await begun.passed;
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1000);
    expect((await response).status).to.equal(408);
    goOn.open();

    expect(await (await app.get("/name", { headers: { cookie } })).text()).to.equal("Ada");
  });
});

describe("a session's values", () => {
  it("are values that JSON keeps; any other is a TypeError that does not show the value", async () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const wrong: readonly unknown[] = [
      undefined,
      () => "canary",
      Symbol("canary"),
      1n,
      Number.NaN,
      Infinity,
      new Map([["canary", 1]]),
      new Set(),
      new Date(),
      { deep: [{ value: undefined }, undefined] },
      { deep: new Map() },
      cycle,
      "canary".repeat(50_000),
      { toJSON: () => "canary" },
    ];
    const right: readonly unknown[] = [null, 0, "", false, [], {}, { a: [1, "é", { b: null }] }, { gone: undefined }];
    const faults: unknown[] = [];
    const kept: unknown[] = [];
    const trial = Route.post("/", async (ctx: Context) => {
      const session = Session.of(ctx);
      for (const value of wrong) {
        try {
          session.put("x", value);
          faults.push(value);
        } catch (error) {
          if (!(error instanceof TypeError) || error.message.includes("canary")) faults.push(error);
        }
      }
      for (const value of right) {
        session.put("x", value);
        kept.push(await session.get("x"));
      }
    });
    await using app = await start(undefined, undefined, trial);
    await app.post("/");

    expect(faults).to.deep.equal([]);
    expect(kept).to.deep.equal([null, 0, "", false, [], {}, { a: [1, "é", { b: null }] }, {}]);
  });

  it("are copies, and of one request's own writes", async () => {
    const trial = Route.post("/", async (ctx: Context) => {
      const session = Session.of(ctx);
      session.put("list", [1]);
      ((await session.get("list")) as number[]).push(2);
      const own = await session.get("list");
      session.forget("list");
      return [own, (await session.get("list")) ?? "gone"];
    });
    await using app = await start(undefined, undefined, trial);

    expect(await (await app.post("/")).json()).to.deep.equal([[1], "gone"]);
  });

  it("count as missing if they do not fit the schema of their key", async () => {
    const CART = sessionKey("cart", z.object({ items: z.array(z.string()) }));
    const trial = Route.post("/", async (ctx: Context) => {
      const session = Session.of(ctx);
      session.put("cart", { items: "of an older version" });
      const old = await session.get(CART);
      session.put(CART, { items: ["a"] });
      return [old ?? "missing", await session.get(CART)];
    });
    await using app = await start(undefined, undefined, trial);

    expect(await (await app.post("/")).json()).to.deep.equal(["missing", { items: ["a"] }]);
  });

  it("are lost between two requests at the same time only if both write the same value", async () => {
    const begun = new Gate();
    const goOn = new Gate();
    const slow = Route.post("/slow", async (ctx: Context) => {
      const session = Session.of(ctx);
      await session.get("name");
      begun.open();
      await goOn.passed;
      session.put("slow", 1);
      session.put("both", "slow");
    });
    const fast = Route.post("/fast", (ctx: Context) => {
      Session.of(ctx).put("fast", 2);
      Session.of(ctx).put("both", "fast");
      Session.of(ctx).forget("name");
    });
    const all = Route.get("/all", (ctx: Context) =>
      Promise.all(["slow", "fast", "both", "name"].map(async (key) => (await Session.of(ctx).get(key)) ?? null)),
    );
    await using app = await start(undefined, undefined, slow, fast, all);
    const headers = { cookie: cookieOf(await app.post("/name/Ada")) };

    const late = app.post("/slow", { headers });
    await begun.passed;
    await app.post("/fast", { headers });
    goOn.open();
    await late;

    expect(await (await app.get("/all", { headers })).json()).to.deep.equal([1, 2, "slow", null]);
  });

  it("cannot change once the response is being sent", async () => {
    let late: unknown;
    const stream = Route.get("/", (ctx: Context) => {
      const session = Session.of(ctx);
      async function* body() {
        await new Promise((resolve) => setImmediate(resolve));
        try {
          session.put("name", "late");
        } catch (error) {
          late = error;
        }
        yield "done";
      }
      return Reply.of(body(), "text/event-stream");
    });
    await using app = await start(undefined, undefined, stream);
    await (await app.get("/")).text();

    expect(late).to.have.property("code", "E_SESSION_OVER");
  });
});

describe("a session's configuration", () => {
  const table: readonly (readonly [SessionOptions, string])[] = [
    [{ name: "" }, "cannot be the name of a cookie"],
    [{ name: "a;b" }, "cannot be the name of a cookie"],
    [{ path: "" }, "cannot be the path of a cookie"],
    [{ path: "/a;b" }, "cannot be the path of a cookie"],
    [{ path: "/x" }, "a path other than"],
    [{ domain: "shop.example" }, "with a Domain"],
    [{ secure: false }, "without Secure"],
    [{ name: "__host-x", secure: false }, "without Secure"],
    [{ name: "__Secure-x", secure: false }, "without Secure"],
    [{ name: "x", domain: ".shop.example" }, "cannot be the domain"],
    [{ name: "x", domain: "a; Path=/" }, "cannot be the domain"],
    [{ name: "x", secure: false, sameSite: "None" }, "SameSite=None without Secure"],
    [{ sameSite: "lax" as "Lax" }, "sameSite is"],
    [{ idleMs: 0 }, "idleMs is a whole number"],
    [{ absoluteMs: 0.5 }, "absoluteMs is a whole number"],
    [{ maxAge: 1 } as SessionOptions, "is not an option"],
  ];
  for (const [options, fault] of table)
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(() => new SessionConfig(KEY, options)).to.throw(fault);
    });

  it("takes keys of 64 bytes alone, and prints none", () => {
    const bytes = randomBytes(64);
    for (const key of ["", "short", "z".repeat(128), KEY.slice(2), bytes.subarray(1), [], [KEY, "short"], undefined, 7])
      expect(() => new SessionConfig(key as string))
        .to.throw("a session key is 64 random bytes")
        .with.property("code", "E_SESSION_KEY");
    const config = new SessionConfig([bytes, KEY]);
    const printed = inspect(config, { depth: 9, showHidden: true }) + JSON.stringify(config);
    expect(printed)
      .not.to.include(KEY)
      .and.not.include(bytes.toString("hex"))
      .and.not.include(bytes.toString("base64"));
    expect(printed).not.to.match(/5a5a5a|5a 5a/);
  });

  it("is a start-up error where it is missing or something else", () => {
    // @ts-expect-error no configuration
    expect(() => Application.create().session(KEY).build()).to.throw("is not a SessionConfig");
    // @ts-expect-error no store
    expect(() => Application.create().session(new SessionConfig(KEY), {}).build()).to.throw("is not a SessionStore");
    const twice = Application.create().session(new SessionConfig(KEY)).session(new SessionConfig(KEY));
    expect(() => twice.build()).to.throw(".session(…) was called twice");
  });

  it("is needed by Session.of", () => {
    expect(() => Session.of(context())).to.throw(".session(new SessionConfig(key))");
    expect(Session.find(context())).to.equal(undefined);
  });
});

describe("the session stage", () => {
  it("obeys the layer contract", async () => {
    const layer = (SessionConfig.dev(KEY) as unknown as { toLayer(): never }).toLayer();
    await obeysLayerContract(layer);
  });

  it("leaks no id and no value into logs and errors", async () => {
    const failing = Route.get("/fails/{what}", async (ctx: Context) => {
      Session.of(ctx).put("secret", "canary-of-the-session");
      throw new Error("of the handler");
    });
    const builder = Application.create()
      .config(new AppConfig())
      .session(new SessionConfig(KEY))
      .accessLog()
      .metrics()
      .catchPanic()
      .routes(routes(failing));
    await using app = await testApp(builder);
    const cookie = cookieOf(await app.post("/name/Ada"));

    await app.get("/fails/x", { headers: { cookie } });

    expect(app.logs.transcript())
      .not.to.include(cookie.slice("__Host-id=".length, 30))
      .and.not.include("canary-of-the-session");
    await expectNoLeak(app, "canaryInEverything");
  });
});
