/** Devices that stay signed in when their session has ended. */
import { Clock, provide, UnavailableError } from "@stagecraft/framework";
import { Identities, type RememberToken, RememberTokens } from "@stagecraft/framework/auth";
import { DatabaseRememberTokens } from "@stagecraft/framework/auth/db";
import { MemorySessionStore, SessionConfig } from "@stagecraft/framework/session";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { createHmac, hkdfSync } from "node:crypto";
import { ENGINES, openDriver, type StartedEngine } from "../../idempotency/db/order-database.js";
import { needs } from "../../support/machine.js";
import { account, addPerson, AppUsers, buildAccounts, KEY, PASSWORD, startAccounts } from "../account-application.js";
import { AppDatabase } from "../auth-database.js";
import { DAY_MS, findToken, MINUTE_MS, remember, toHeaders, visit } from "../remembered-devices.js";

for (const { name, program, start } of ENGINES) {
  describe(`remembered devices in ${name}`, function () {
    this.timeout(120_000);
    let server: StartedEngine;

    if (program !== undefined) before(needs(program));
    before(async () => {
      server = await start();
    });
    after(() => server?.[Symbol.asyncDispose]());

    it("stay signed in by ten requests at the same time, and by the cookie that arrives last", async () => {
      const clock = new FakeClock();
      const launch = () => startAccounts({ db: AppDatabase.on(openDriver(server.url)), clock });
      await using one = await launch();
      await using two = await launch();
      await addPerson(one, "ada");
      let { token } = await remember(one, "ada");

      for (let round = 0; round < 3; round++) {
        clock.advance(2 * MINUTE_MS);
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, at) => visit(at % 2 === 0 ? one : two, { token })),
        );
        const tokens = new Set(answers.map((answer) => findToken(answer)));
        expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 10 }, () => 200));
        expect(tokens.size).to.equal(1);
        expect(tokens.has(token)).to.equal(false);
        token = [...tokens][0] ?? "";
      }
      clock.advance(2 * MINUTE_MS);
      expect((await visit(two, { token })).status).to.equal(200);
    });

    it("are stored with their times and device, listed, and deleted when they have expired", async () => {
      await using db = AppDatabase.on(openDriver(server.url));
      await db.start();
      const tokens = new DatabaseRememberTokens(db);
      const device = { userAgent: "x".repeat(256), address: "y".repeat(64) };
      const times = { createdAt: 1, rotatedAt: 1, expiresAt: 100 };
      const token: RememberToken = {
        selector: "a".repeat(32),
        userId: "José",
        signInId: "s1",
        stamp: "s",
        method: "password",
        generation: 0,
        ...times,
        ...device,
      };
      await tokens.insert(token);
      await tokens.insert({ ...token, selector: "b".repeat(32), userId: "jose" });
      await tokens.insert({ ...token, selector: "c".repeat(32), signInId: "s2", rotatedAt: 2 });

      expect(await tokens.find(token.selector, 99)).to.deep.equal(token);
      expect(await tokens.find(token.selector, 100)).to.equal(undefined);
      expect((await tokens.listOfUser("José", 99)).map(({ signInId }) => signInId)).to.deep.equal(["s2", "s1"]);
      expect(await tokens.listOfUser("José", 100)).to.deep.equal([]);
      const rotation = { from: 0, rotatedAt: 50, expiresAt: 150 };
      const rotations = await Promise.all(Array.from({ length: 10 }, () => tokens.rotate(token.selector, rotation)));
      expect(rotations.filter(Boolean)).to.have.lengthOf(1);
      expect(await tokens.find(token.selector, 149)).to.include({ generation: 1, rotatedAt: 50 });
      expect(await tokens.deleteOfUser("José", { except: "s1" })).to.equal(1);
      expect(await tokens.deleteOfUser("José", { only: "s2" })).to.equal(0);
      expect(await tokens.deleteOfUser("José")).to.equal(1);
      expect(await tokens.listOfUser("jose", 99)).to.have.lengthOf(1);
    });
  });
}

async function startRemembering(options: Parameters<typeof startAccounts>[0] = {}) {
  const clock = options.clock ?? new FakeClock();
  const app = await startAccounts({ ...options, clock });
  await addPerson(app, "ada");
  return { app, clock };
}

/** Another generation of a token, as this application signs it. */
function sign(token: string, generation: number, key = KEY): string {
  const text = `${token.slice(0, 32)}.${generation}`;
  const derived = hkdfSync("sha256", Buffer.from(key, "hex"), "", "stagecraft remember-me 1", 32);
  return `${text}.${createHmac("sha256", Buffer.from(derived)).update(text).digest("base64url")}`;
}

describe("a remembered device", () => {
  it("opens a session without its own, which needs the password again for dangerous actions", async () => {
    const { app, clock } = await startRemembering();
    await using _ = app;
    const { token } = await remember(app, "ada");
    clock.advance(15 * DAY_MS);

    const response = await visit(app, { token });
    const session = findToken(response, "framework-id");

    expect(await response.json()).to.include({ userId: "ada", email: "ada@shop.example" });
    expect((await visit(app, { session })).status).to.equal(200);
    const headers = { cookie: `framework-id=${session}` };
    expect((await app.get(account.confirmed.url(), { headers })).status).to.equal(403);
  });

  it("gets no cookie without remember-me, and asks no store without one", async () => {
    let count = 0;
    class CountingTokens extends DatabaseRememberTokens {
      override find(...args: Parameters<RememberTokens["find"]>) {
        count++;
        return super.find(...args);
      }
    }
    const db = AppDatabase.on();
    const { app } = await startRemembering({
      db,
      bindings: [provide(RememberTokens).useFactory(() => new CountingTokens(db))],
    });
    await using _ = app;
    const { token } = await remember(app, "ada");
    const plain = await app.post(account.signIn.url(), { json: { email: "ada@shop.example", password: PASSWORD } });
    expect(findToken(plain)).to.equal(undefined);

    const [selector = "", generation = "", mac = ""] = token.split(".");
    const malformed = [
      "",
      "x",
      "..",
      selector,
      `${selector}.${generation}`,
      `${selector}.${generation}.${mac.slice(1)}`,
      `${selector}.${generation}.${mac}=`,
      `${selector}.${generation}.${mac.slice(0, -1)}!`,
      `${selector}.1.${mac}`,
      `${selector}.00.${mac}`,
      `${selector}.-1.${mac}`,
      `${selector.toUpperCase()}.${generation}.${mac}`,
      `${"0".repeat(32)}.${generation}.${mac}`,
      sign(token, 0, "a5".repeat(64)),
      `${selector}.${"9".repeat(500)}.${mac}`,
      "é".repeat(50),
      `${token}${"x".repeat(8000)}`,
    ];
    for (const each of malformed) {
      const response = await visit(app, { token: each });
      expect([response.status, findToken(response)], each).to.deep.equal([401, undefined]);
    }
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === "a" ? "b" : "a") + token.slice(at + 1);
      expect((await visit(app, { token: changed })).status, changed).to.equal(401);
    }
    expect((await visit(app, { token: "x".repeat(100_000) })).status).to.equal(431);
    expect(count).to.equal(0);
    expect((await visit(app, { token })).status).to.equal(200);
  });

  it("has a new token at most once a minute, and the one before counts for a minute", async () => {
    const { app, clock } = await startRemembering();
    await using _ = app;
    const { token: first } = await remember(app, "ada");
    expect(findToken(await visit(app, { token: first }))).to.equal(first);
    clock.advance(MINUTE_MS);
    const second = findToken(await visit(app, { token: first }));

    clock.advance(MINUTE_MS - 1);
    const late = await visit(app, { token: first });

    expect([late.status, findToken(late)]).to.deep.equal([200, second]);
    expect(findToken(await visit(app, { token: second }))).to.equal(second);
  });

  it("is signed out, with its copy, when the token before is used after a minute", async () => {
    const { app, clock } = await startRemembering();
    await using _ = app;
    const { token: copy, session } = await remember(app, "ada");
    const other = await remember(app, "ada");
    clock.advance(2 * MINUTE_MS);
    const renewed = await visit(app, { token: copy });
    const token = findToken(renewed);
    clock.advance(2 * MINUTE_MS);

    const reuse = await visit(app, { token: copy });

    expect([reuse.status, findToken(reuse)]).to.deep.equal([401, undefined]);
    expect(app.logs.transcript()).to.include("token of remember-me used twice");
    const sessions = [session, findToken(renewed, "framework-id")];
    for (const device of [{ token }, ...sessions.map((each) => ({ session: each }))])
      expect((await visit(app, device)).status).to.equal(401);
    // Another device of the person stays signed in.
    expect((await visit(app, other)).status).to.equal(200);
  });

  it("is refused with a token that a restored table does not know yet, and stays known", async () => {
    const { app } = await startRemembering();
    await using _ = app;
    const { token } = await remember(app, "ada");
    expect(sign(token, 0)).to.equal(token);

    expect((await visit(app, { token: sign(token, 7) })).status).to.equal(401);
    expect((await visit(app, { token })).status).to.equal(200);
  });

  it("is forgotten 30 days after its last use", async () => {
    const { app, clock } = await startRemembering();
    await using _ = app;
    const { token } = await remember(app, "ada");
    clock.advance(30 * DAY_MS - 1);
    const next = findToken(await visit(app, { token }));
    clock.advance(30 * DAY_MS);

    expect((await visit(app, { token: next })).status).to.equal(401);
  });

  it("is signed out by a changed password, and for a user who is deactivated", async () => {
    const { app, clock } = await startRemembering();
    await using _ = app;
    await addPerson(app, "eve");
    const [ada, eve] = [await remember(app, "ada"), await remember(app, "eve")];
    const change = { from: "stamp of ada", password: "hash", stamp: "another" };
    expect(await app.resolve(Identities).setPassword("ada", change)).to.equal(true);
    app.resolve(AppUsers).deactivated.add("eve");
    clock.advance(2 * MINUTE_MS);

    expect(findToken(await visit(app, ada))).to.equal(undefined);
    for (const { token } of [ada, eve]) expect((await visit(app, { token })).status).to.equal(401);
  });

  it("goes on with a new token when its person changes the password there", async () => {
    const { app, clock } = await startRemembering();
    await using _ = app;
    const [device, other] = [await remember(app, "ada"), await remember(app, "ada")];
    const json = { current: PASSWORD, password: "another password" };

    const changed = await app.post(account.changePassword.url(), { json, headers: toHeaders(device) });
    const token = findToken(changed);

    expect(changed.status).to.equal(200);
    clock.advance(2 * MINUTE_MS);
    expect((await visit(app, { token })).status).to.equal(200);
    for (const old of [device.token, other.token]) expect((await visit(app, { token: old })).status).to.equal(401);
  });

  it("is forgotten when its person signs out, also without a session, and when somebody else signs in", async () => {
    const { app, clock } = await startRemembering();
    await using _ = app;
    await addPerson(app, "eve");
    const signOut = account.signOut.url();
    const [one, two, three] = [await remember(app, "ada"), await remember(app, "ada"), await remember(app, "ada")];
    const eve = { email: "eve@shop.example", password: PASSWORD };

    const answers = [
      await app.post(signOut, { headers: toHeaders(one) }),
      await app.post(signOut, { headers: toHeaders({ token: two.token }) }),
      await app.post(account.signIn.url(), { json: eve, headers: toHeaders({ token: three.token }) }),
    ];

    expect(answers.map((answer) => findToken(answer))).to.deep.equal(["", "", ""]);
    clock.advance(2 * MINUTE_MS);
    for (const { token } of [one, two, three]) expect((await visit(app, { token })).status).to.equal(401);
  });

  it("keeps its cookie while a store is down, for longer than a minute", async () => {
    class SwitchedTokens extends DatabaseRememberTokens {
      isDown = false;
      override find(...args: Parameters<RememberTokens["find"]>) {
        if (this.isDown) return Promise.reject(new UnavailableError("The database is down."));
        return super.find(...args);
      }
    }
    class SwitchedSessions extends MemorySessionStore {
      isDown = false;
      override create(...args: Parameters<MemorySessionStore["create"]>) {
        if (this.isDown) throw new Error("the store is down");
        return super.create(...args);
      }
    }
    const db = AppDatabase.on();
    const [tokens, sessions] = [new SwitchedTokens(db), new SwitchedSessions()];
    const { app, clock } = await startRemembering({
      db,
      sessions,
      bindings: [provide(RememberTokens).useValue(tokens)],
    });
    await using _ = app;
    let { token } = await remember(app, "ada");

    tokens.isDown = true;
    clock.advance(2 * MINUTE_MS);
    const down = await visit(app, { token });
    expect([down.status, findToken(down)]).to.deep.equal([503, undefined]);
    tokens.isDown = false;
    sessions.isDown = true;
    for (let round = 0; round < 3; round++) {
      clock.advance(2 * MINUTE_MS);
      const response = await visit(app, { token });
      expect(response.status).to.equal(503);
      token = findToken(response) ?? "";
    }
    sessions.isDown = false;
    clock.advance(2 * MINUTE_MS);
    expect((await visit(app, { token })).status).to.equal(200);
  });

  it("has a cookie like that of the session: for this host, over TLS, and for no script", async () => {
    const clock = new FakeClock();
    const builder = buildAccounts({
      session: SessionConfig.pages(KEY),
    });
    await using app = await testApp(builder, provide(Clock).useValue(clock));
    await addPerson(app, "ada");
    const json = { email: "ada@shop.example", password: PASSWORD, remember: true };

    const response = await app.post(account.signIn.url(), { json });

    const line = response.headers.getSetCookie().find((each) => each.startsWith("__Host-remember="));
    expect(line?.slice(line.indexOf(";"))).to.equal("; Max-Age=2592000; Path=/; HttpOnly; Secure; SameSite=Lax");
  });
});
