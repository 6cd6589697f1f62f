/** API tokens: what is stored of them, when they end, how often they are looked up, and when a use is stored. */
import { type Class, Controller, Get, provide, routes } from "@stagecraft/framework";
import { type ApiToken, ApiTokens, ApiTokenStore, type NewToken } from "@stagecraft/framework/auth";
import { DatabaseApiTokens } from "@stagecraft/framework/auth/db";
import { apiToken } from "@stagecraft/framework/auth/guards";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { expectProblem, FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Gate } from "../../support/gate.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";
import { AppUsers } from "../account-application.js";
import { AppDatabase } from "../auth-database.js";
import { api, createToken, MINUTE_MS, sendToken, startTokens, tokens } from "./token-application.js";

interface LogLine {
  readonly target: string;
  readonly message: string;
  readonly fields: object;
}

const SEEN_MS = 5000;
const NOW = () => new FakeClock().now();

/** Counts look-ups and writes, and holds or fails them. */
class WatchedTokens extends DatabaseApiTokens {
  finds = 0;
  uses = 0;
  failure: Error | undefined;
  findGate: Gate | undefined;
  useGate: Gate | undefined;

  override async findByHash(hash: string): Promise<ApiToken | undefined> {
    this.finds++;
    if (this.failure !== undefined) throw this.failure;
    const found = await super.findByHash(hash);
    await this.findGate?.passed;
    return found;
  }

  override async setUsed(id: string, usedAt: number, everyMs: number): Promise<void> {
    this.uses++;
    if (this.failure !== undefined) throw this.failure;
    await this.useGate?.passed;
    await super.setUsed(id, usedAt, everyMs);
  }
}

const slow = routes("slow", "/slow", { show: Get("/", { guards: [apiToken] }) });

@Controller(slow)
class SlowController {
  readonly started = new Gate();
  readonly released = new Gate();

  @slow.show async show() {
    this.started.open();
    await this.released.passed;
    return "shown";
  }
}

async function turnEventLoop(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve));
}

async function startWatched(controllers: readonly Class[] = []) {
  const clock = new FakeClock();
  const binding = provide(ApiTokenStore).useFactory((resolve) => new WatchedTokens(resolve(AppDatabase)));
  const app = await startTokens({ clock, controllers, bindings: [binding] });
  return { app, clock, store: app.resolve(ApiTokenStore) as WatchedTokens };
}

const lastUseOf = async (app: TestApp) => (await app.resolve(ApiTokens).list("ada"))[0]?.lastUsedAt;

describe("API tokens", () => {
  it("are shown once, listed without their text, and revoked by their user alone", async () => {
    await using app = await startTokens();
    const [ada, bob] = [await app.actingAs("ada"), await app.actingAs("bob")];

    const created = await ada.post(tokens.create.url(), {
      json: { name: " laptop ", scopes: ["links:read", "links:read"] },
    });
    const { text, token } = await created.json<{ text: string; token: ApiToken }>();
    expect(created.status).to.equal(201);
    expect((await sendToken(app, text)).status).to.equal(200);

    const list = await (await ada.get(tokens.list.url())).text();
    expect(list).to.not.include(text);
    expect(JSON.parse(list)).to.have.lengthOf(1);
    expect(token).to.include({ userId: "ada", name: "laptop" });
    expect(token.scopes).to.deep.equal(["links:read"]);
    expect(await (await bob.get(tokens.list.url())).json()).to.deep.equal([]);
    const revoke = async (client: typeof ada) => (await client.delete(tokens.revoke.url(token.id))).json();
    expect(await revoke(bob)).to.deep.equal({ isRevoked: false });
    expect((await sendToken(app, text)).status).to.equal(200);
    expect(await revoke(ada)).to.deep.equal({ isRevoked: true });
    expect((await sendToken(app, text)).status).to.equal(401);
  });

  it("are stored as a hash", async () => {
    const db = AppDatabase.on();
    await using app = await startTokens({ db });
    const { text } = await createToken(app);

    const rows = JSON.stringify(await db.run("select * from framework_api_tokens"));

    expect(rows).to.include("laptop");
    for (const part of [text, text.slice(4), text.slice(4, 31)]) expect(rows).to.not.include(part);
  });

  it("have the prefix of the option", async () => {
    await using app = await startTokens({ tokens: { prefix: "shop_test" } });

    const { text } = await createToken(app);

    expect(text).to.match(/^shop_test_[0-9A-Za-z]{33}$/);
    expect((await sendToken(app, text)).status).to.equal(200);
    expect((await sendToken(app, text.replace("shop_test", "sct"))).status).to.equal(401);
  });

  const values: NewToken = { name: "x", scopes: [] };
  const wrong: readonly (readonly [string, Partial<Record<keyof NewToken, unknown>>, string])[] = [
    ["without a name", { name: " " }, "name"],
    ["with a long name", { name: "x".repeat(101) }, "name"],
    ["with a name of 100 kB", { name: "x".repeat(100_000) }, "name"],
    ["with a line break in its name", { name: "a\nb" }, "name"],
    ["with half a character in its name", { name: "a\ud800" }, "name"],
    ["with a number for a name", { name: 7 }, "name"],
    ["with a scope of two words", { scopes: ["links:read links:write"] }, "scopes"],
    ["with a quote in a scope", { scopes: ['a"b'] }, "scopes"],
    ["with an empty scope", { scopes: [""] }, "scopes"],
    ["with a long scope", { scopes: ["x".repeat(65)] }, "scopes"],
    ["with many scopes", { scopes: Array.from({ length: 33 }, (_, at) => `s${at}`) }, "scopes"],
    ["with a text for scopes", { scopes: "links:read" }, "scopes"],
    ["that has expired", { expiresAt: new Date(NOW()) }, "expiresAt"],
    ["that expires at no time", { expiresAt: new Date(Number.NaN) }, "expiresAt"],
    ["that expires at a text", { expiresAt: "2099-01-01" }, "expiresAt"],
  ];
  for (const [what, change, field] of wrong)
    it(`are refused ${what}`, async () => {
      await using app = await startTokens();

      const failure = await rejectionOf(app.resolve(ApiTokens).create("ada", { ...values, ...(change as object) }));

      expect(failure).to.have.property("status", 422);
      expect(Reflect.get(failure, "errors")).to.have.all.keys(field);
    });

  it("are at most 100 for a user", async () => {
    await using app = await startTokens();
    for (let at = 0; at < 100; at++) await createToken(app);

    expect(await rejectionOf(createToken(app))).to.deep.include({ code: "E_AUTH_TOKENS", status: 409 });
    await createToken(app, "bob");
    expect(await app.resolve(ApiTokens).list("ada")).to.have.lengthOf(100);
  });

  it("end at their time, also those that were seen just before", async () => {
    const clock = new FakeClock();
    await using app = await startTokens({ clock });
    const { text } = await createToken(app, "ada", { expiresAt: new Date(clock.now() + 1000) });

    const statuses = [];
    for (const pause of [999, 1, 0, SEEN_MS]) {
      clock.advance(pause);
      statuses.push((await sendToken(app, text)).status);
    }

    expect(statuses).to.deep.equal([200, 401, 401, 401]);
  });

  it("of one user end together", async () => {
    await using app = await startTokens();
    const [first, second, other] = [await createToken(app), await createToken(app), await createToken(app, "bob")];
    for (const { text } of [first, second, other]) expect((await sendToken(app, text)).status).to.equal(200);

    expect(await app.resolve(ApiTokens).revokeAll("ada")).to.equal(2);

    const statuses = [first, second, other].map(async ({ text }) => (await sendToken(app, text)).status);
    expect(await Promise.all(statuses)).to.deep.equal([401, 401, 200]);
  });

  it("of a user who may not sign in are refused within five seconds", async () => {
    const { app, clock } = await startWatched();
    await using _ = app;
    const { text } = await createToken(app);
    await sendToken(app, text);
    app.resolve(AppUsers).deactivated.add("ada");

    expect((await sendToken(app, text)).status).to.equal(200);
    clock.advance(SEEN_MS);
    expect((await sendToken(app, text)).status).to.equal(401);
    app.resolve(AppUsers).deactivated.delete("ada");
    expect((await sendToken(app, text)).status).to.equal(200);
  });

  it("tell the log that they are created, refused and revoked, without a secret", async () => {
    await using app = await startTokens();
    const ada = await app.actingAs("ada");
    const response = await ada.post(tokens.create.url(), { json: { name: "laptop", scopes: [] } });
    const { text, token } = await response.json<{ text: string; token: ApiToken }>();
    await sendToken(app, text, api.read.url());
    await ada.delete(tokens.revoke.url(token.id));
    await sendToken(app, text);

    const events = app.logs.lines().map((line) => JSON.parse(line) as LogLine);
    expect(
      events.filter(({ target }) => target === "framework::auth").map(({ fields, message }) => [message, fields]),
    ).to.deep.equal([
      ["API token created", { user_id: "ada", id: token.id }],
      ["API token refused", { reason: "scope", scope: "links:read", user_id: "ada", id: token.id }],
      ["API token revoked", { user_id: "ada", id: token.id }],
      ["API token refused", { reason: "unknown" }],
    ]);
    expect(app.logs.lines().join()).to.not.include(text);
  });
});

describe("the look-up of an API token", () => {
  it("is done once in five seconds", async () => {
    const { app, clock, store } = await startWatched();
    await using _ = app;
    const { text } = await createToken(app);

    const finds = [];
    for (const pause of [0, 1, SEEN_MS - 2, 1, SEEN_MS]) {
      clock.advance(pause);
      expect((await sendToken(app, text)).status).to.equal(200);
      finds.push(store.finds);
    }

    expect(finds).to.deep.equal([1, 1, 1, 2, 3]);
  });

  it("is not done for a text with a wrong checksum, another form, or 100 kB", async () => {
    const { app, store } = await startWatched();
    await using _ = app;
    const { text } = await createToken(app);
    const last = text.endsWith("0") ? "1" : "0";
    const texts = [
      text.slice(0, -1) + last,
      `${text}a`,
      text.toLowerCase(),
      "",
      " ",
      "sct_",
      "x".repeat(100_000),
      `sct_${"é".repeat(33)}`,
    ];

    const started = performance.now();
    for (let at = 0; at < 1000; at++)
      for (const each of texts) expect(await app.resolve(ApiTokens).verify(each)).to.equal(undefined);

    expect(store.finds).to.equal(0);
    expect(performance.now() - started).to.be.below(20_000);
  });

  it("that began before a revocation does not bring the token back", async () => {
    const { app, store } = await startWatched();
    await using _ = app;
    const { text, token } = await createToken(app);
    const gate = new Gate();
    store.findGate = gate;
    const response = sendToken(app, text);
    await until(() => store.finds === 1);

    await app.resolve(ApiTokens).revoke("ada", token.id);
    gate.open();
    await response;

    expect((await sendToken(app, text)).status).to.equal(401);
  });

  it("during a transaction that revokes does not bring the token back", async () => {
    const db = AppDatabase.on();
    await using app = await startTokens({ db });
    const { text, token } = await createToken(app);
    const apiTokens = app.resolve(ApiTokens);

    await db.transaction(async () => {
      expect(await apiTokens.verify(text)).to.not.equal(undefined);
      await apiTokens.revoke("ada", token.id);
      expect(await apiTokens.verify(text)).to.equal(undefined);
    });

    expect((await sendToken(app, text)).status).to.equal(401);
  });

  it("that fails is a 503, and never a 401", async () => {
    const { app, store } = await startWatched();
    await using _ = app;
    const { text } = await createToken(app);
    store.failure = new Error("the store is down");

    await expectProblem(await sendToken(app, text), { status: 503, slug: "unavailable" });
    expect(app.logs.lines().join()).to.include("the store is down");
    store.failure = undefined;
    expect((await sendToken(app, text)).status).to.equal(200);
  });

  it("in a database that is down is a 503", async () => {
    const db = AppDatabase.on();
    await using app = await startTokens({ db });
    const { text } = await createToken(app);
    await db.stop();

    const response = await sendToken(app, text);

    expect([response.status, response.headers.get("www-authenticate")]).to.deep.equal([503, null]);
  });

  it("gives no request an identity that another one can change", async () => {
    await using app = await startTokens();
    const { text } = await createToken(app);
    const identity = await app.resolve(ApiTokens).verify(text);

    expect(identity?.scopes).to.deep.equal(["links:read"]);
    expect([identity, identity?.scopes].map((each) => Object.isFrozen(each))).to.deep.equal([true, true]);
  });
});

describe("the last use of an API token", () => {
  it("is stored at most once a minute", async () => {
    const { app, clock, store } = await startWatched();
    await using _ = app;
    const { text } = await createToken(app);
    expect(await lastUseOf(app)).to.equal(undefined);

    for (const [pause, uses] of [
      [0, 1],
      [SEEN_MS, 1],
      [MINUTE_MS - SEEN_MS - 1, 1],
      [1, 2],
      [MINUTE_MS * 2, 3],
    ] as const) {
      clock.advance(pause);
      await Promise.all([1, 2, 3].map(() => sendToken(app, text)));
      await until(() => store.uses >= uses);
      expect(store.uses).to.equal(uses);
    }
    await until(async () => (await lastUseOf(app)) === clock.now());
    expect(await lastUseOf(app)).to.equal(clock.now());
  });

  it("is stored after the response, which does not wait for it", async () => {
    const { app, clock, store } = await startWatched([SlowController]);
    await using _ = app;
    const { text } = await createToken(app);
    const gate = new Gate();
    store.useGate = gate;
    const handler = app.resolve(SlowController);
    const response = sendToken(app, text, slow.show.url());
    await handler.started.passed;
    await turnEventLoop();
    expect(store.uses).to.equal(0);

    handler.released.open();
    expect((await response).status).to.equal(200);
    await until(() => store.uses === 1);
    expect(await lastUseOf(app)).to.equal(undefined);

    gate.open();
    await until(async () => (await lastUseOf(app)) === clock.now());
  });

  it("is stored before the application stops", async () => {
    const db = AppDatabase.on(sqlite(":memory:"));
    const app = await startTokens({ db });
    const { text } = await createToken(app);
    await sendToken(app, text);

    await app.stop();

    expect(app.logs.lines().join("\n")).to.not.include("last use of an API token not stored");
  });

  it("that cannot be stored is a warning, and no failure of a request", async () => {
    const { app, clock, store } = await startWatched();
    await using _ = app;
    const { text, token } = await createToken(app);
    await sendToken(app, text);
    await until(() => store.uses === 1);
    store.setUsed = () => Promise.reject(new Error("the disk is full"));
    clock.advance(MINUTE_MS);

    expect((await sendToken(app, text)).status).to.equal(200);

    const warnings = () => app.logs.lines().filter((line) => line.includes("last use of an API token not stored"));
    await until(() => warnings().length > 0);
    expect(warnings()).to.have.lengthOf(1);
    expect(warnings()[0]).to.include('"WARN"').and.include(token.id).and.include("the disk is full");
  });
});
