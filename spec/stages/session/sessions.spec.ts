/** The sessions of an owner, listed and ended by code of the application. */
import { Application, Controller, Module, Post, Route, Routes, type Context } from "@stagecraft/framework";
import {
  MemorySessionStore,
  OWNER_NAME,
  Session,
  SessionConfig,
  sessionKey,
  Sessions,
} from "@stagecraft/framework/session";
import { expectProblem, FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { inspect } from "node:util";
import { errorOf } from "../../support/error-of.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";
import { endsWhileTheyMove, getUser, signIn, startOwned } from "./stores/owned-sessions.js";

const USER = sessionKey<string>("user");
const NUMBER = sessionKey<number>("user", {
  "~standard": { version: 1, vendor: "spec", validate: () => ({ issues: [{ message: "not a number" }] }) },
});

describe("the sessions of an owner", () => {
  it("are listed, the one used last first", async () => {
    const clock = new FakeClock();
    await using app = await startOwned(undefined, clock);
    const phone = await signIn(app, "ada");
    await signIn(app, "ada");
    await signIn(app, "eve");
    const signedInAt = clock.now();
    clock.advance(120_000);
    await getUser(phone);

    const sessions = await app.resolve(Sessions).list("ada");

    expect(sessions.map(({ renewedAt }) => renewedAt)).to.deep.equal([clock.now(), signedInAt]);
    expect(await sessions[0]?.get(USER)).to.equal("ada");
    expect(await sessions[0]?.get("user")).to.equal("ada");
    expect(await sessions[0]?.get("missing")).to.equal(undefined);
    expect(await sessions[0]?.get(NUMBER)).to.equal(undefined);
    expect(await app.resolve(Sessions).list("nobody")).to.deep.equal([]);
  });

  it("stay with their owner under a new id, and leave it with their values", async () => {
    await using app = await startOwned();
    const browser = await signIn(app, "ada");
    const count = async () => (await app.resolve(Sessions).list("ada")).length;

    await browser.post("/regenerate");
    expect(await count()).to.equal(1);
    await browser.post("/release");
    expect([await count(), await getUser(browser)]).to.deep.equal([0, "ada"]);
    await browser.post("/sign-in/ada");
    expect(await count()).to.equal(1);
    await browser.post("/sign-out");
    expect(await count()).to.equal(0);
  });

  it("end at once, one of them or all others", async () => {
    await using app = await startOwned();
    const [phone, laptop, eve] = [await signIn(app, "ada"), await signIn(app, "ada"), await signIn(app, "eve")];
    const sessions = app.resolve(Sessions);
    const [first] = await sessions.list("ada");

    expect(await sessions.end("ada", first?.key ?? "")).to.equal(true);
    expect([await getUser(phone), await getUser(laptop)]).to.have.members(["ada", "nobody"]);
    expect(await sessions.end("ada", first?.key ?? "")).to.equal(false);
    const current = (await getUser(phone)) === "ada" ? phone : laptop;
    await signIn(app, "ada");

    expect(await (await current.post("/others")).json()).to.deep.equal({ ended: 1 });
    expect([await getUser(current), await getUser(eve)]).to.deep.equal(["ada", "eve"]);
    expect(await sessions.endAll("ada")).to.equal(1);
    expect(await getUser(current)).to.equal("nobody");
  });

  it("end by no key of another owner, and by no text that is no key", async () => {
    await using app = await startOwned();
    const eve = await signIn(app, "eve");
    const sessions = app.resolve(Sessions);
    const [session] = await sessions.list("eve");

    for (const key of [session?.key ?? "", "", "x", `${session?.key}=`, "x".repeat(100_000), "\u0000"])
      expect(await sessions.end("ada", key)).to.equal(false);
    expect(await getUser(eve)).to.equal("eve");
  });

  it("end while requests give them new ids", async () => {
    const store = new MemorySessionStore();
    await endsWhileTheyMove(store, store);
  });

  it("end although a request that is running changes one", async () => {
    await using app = await startOwned();
    const browser = await signIn(app, "ada");
    await Promise.all([browser.post("/note"), app.resolve(Sessions).endAll("ada"), browser.post("/note")]);

    expect(await getUser(browser)).to.equal("nobody");
    expect(await app.resolve(Sessions).list("ada")).to.deep.equal([]);
  });

  it("are at most a thousand in a list, and all of them end", async () => {
    const store = new MemorySessionStore();
    const values = new Map([[OWNER_NAME, '"ada"']]);
    const clock = new FakeClock();
    const now = clock.now();
    const times = { now, startedAt: now, idleMs: 60_000, absoluteMs: 60_000, renew: true };
    for (let at = 0; at < 1500; at++)
      store.create(Buffer.alloc(32, `${at} `).toString("base64url"), values, { ...times, now: now + at });
    await using app = await startOwned(store, clock);

    const listed = await app.resolve(Sessions).list("ada");

    expect(listed).to.have.lengthOf(1000);
    expect(listed[0]?.renewedAt).to.equal(now + 1499);
    expect(await app.resolve(Sessions).endAll("ada")).to.equal(1500);
  });

  it("are a 503 while the store fails, and where it returns those of another owner", async () => {
    class FailingStore extends MemorySessionStore {
      override listOfOwner(): never {
        throw new Error("canary4711secret");
      }
    }
    class MixedStore extends MemorySessionStore {
      override listOfOwner(_owner: string, now: number) {
        return super.listOfOwner('"eve"', now);
      }
    }
    class SilentStore extends MemorySessionStore {
      isCalled = false;
      override listOfOwner(): never {
        this.isCalled = true;
        return new Promise(() => {}) as never;
      }
    }
    const clock = new FakeClock();
    for (const store of [new FailingStore(), new MixedStore(), new SilentStore()]) {
      await using app = await startOwned(store, clock);
      await signIn(app, "eve");
      const browser = await signIn(app, "ada");
      const response = browser.post("/others");
      if (store instanceof SilentStore) await until(() => store.isCalled);
      clock.advance(5000);
      await expectProblem(await response, {
        status: 503,
        detail: "The session store is unavailable. Please try again shortly.",
      });
      expect(await getUser(browser)).to.equal("ada");
    }
  });

  it("belong to an id of 1 to 256 characters, which only setOwner writes", async () => {
    const errors: unknown[] = [];
    const set = Route.post("/", async (ctx: Context) => {
      const session = Session.of(ctx);
      for (const id of ["", "x".repeat(257), "\uD800", 7 as unknown as string])
        errors.push(errorOf(() => session.setOwner(id)).constructor);
      errors.push(errorOf(() => session.put(OWNER_NAME, "eve")).message);
      session.setOwner("x".repeat(256));
      return { owner: await session.get(OWNER_NAME) };
    });
    await using app = await testApp(
      Application.create()
        .session(new SessionConfig("5a".repeat(64)))
        .routes(new Routes([set])),
    );

    expect(await (await app.post("/")).json()).to.deep.equal({ owner: "x".repeat(256) });
    expect(errors).to.deep.equal([
      TypeError,
      TypeError,
      TypeError,
      TypeError,
      'the session value "_owner" is the owner: use setOwner(id)',
    ]);
    expect(() => sessionKey(OWNER_NAME)).to.throw(TypeError);
    expect(await rejectionOf(app.resolve(Sessions).list(""))).to.be.instanceOf(TypeError);
  });

  it("are injected into a class, with the store of the application", async () => {
    @Controller("/account")
    class AccountController {
      constructor(private readonly sessions: Sessions) {}

      @Post("/sign-in")
      signIn(ctx: Context) {
        Session.of(ctx).setOwner("ada");
      }

      @Post("/everywhere")
      async endAll() {
        return { ended: await this.sessions.endAll("ada") };
      }
    }
    @Module({ controllers: [AccountController] })
    class AccountModule {}
    await using app = await testApp(Application.create(AccountModule).session(new SessionConfig("5a".repeat(64))));
    await using second = await testApp(Application.create(AccountModule).session(new SessionConfig("5a".repeat(64))));
    await app.post("/account/sign-in");

    expect(await (await second.post("/account/everywhere")).json()).to.deep.equal({ ended: 0 });
    expect(await (await app.post("/account/everywhere")).json()).to.deep.equal({ ended: 1 });
  });

  it("show neither their values nor the store where they are printed", async () => {
    await using app = await startOwned();
    await signIn(app, "canary4711secret");
    const sessions = app.resolve(Sessions);

    expect(inspect([sessions, await sessions.list("canary4711secret")], { depth: 9 })).not.to.include("canary");
  });
});
