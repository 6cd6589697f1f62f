/** Refresh tokens that are stolen, in two processes, without their database, and under clocks that are wrong. */
import { provide, UnavailableError } from "@stagecraft/framework";
import { DatabaseRefreshTokens } from "@stagecraft/framework/auth/db";
import { RefreshTokens, refreshTokens, RefreshTokenStore } from "@stagecraft/framework/auth/jwt";
import { FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { ENGINES } from "../../idempotency/db/order-database.js";
import { Child } from "../../support/child.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { addPerson, startAccounts } from "../account-application.js";
import { AppDatabase, openBefore } from "../auth-database.js";
import { NOW } from "./bearer-application.js";
import { ACCESS, issuingOf, KEY } from "./issuing-application.js";

const OTHER_KEY = "7c".repeat(64);
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A store whose statements a spec lets fail, before or after they run. */
class FailingTokens extends DatabaseRefreshTokens {
  fails: (call: string) => boolean = () => false;

  override find(...args: Parameters<RefreshTokenStore["find"]>) {
    return this.run("find", () => super.find(...args));
  }

  override rotate(...args: Parameters<RefreshTokenStore["rotate"]>) {
    return this.run("rotate", () => super.rotate(...args));
  }

  override delete(...args: Parameters<RefreshTokenStore["delete"]>) {
    return this.run("delete", () => super.delete(...args));
  }

  private async run<T>(name: string, statement: () => Promise<T>): Promise<T> {
    if (this.fails(name)) throw new UnavailableError("The store is down.");
    const result = await statement();
    if (this.fails(`after ${name}`)) throw new UnavailableError("The store is down.");
    return result;
  }
}

describe("a refresh token", () => {
  let app: TestApp;
  let clock: FakeClock;
  let tokens: RefreshTokens;
  let store: FailingTokens;

  beforeEach(async () => {
    clock = new FakeClock(NOW * 1000);
    const db = AppDatabase.on();
    const bindings = [
      ...issuingOf(),
      ...refreshTokens({ keys: KEY }),
      provide(RefreshTokenStore).useFactory(() => (store = new FailingTokens(db))),
    ];
    app = await startAccounts({ db, clock, bindings });
    tokens = app.resolve(RefreshTokens);
    await addPerson(app, "ada");
  });
  afterEach(() => app.stop());

  const start = async () => (await tokens.start("ada", ACCESS))?.refresh_token ?? "";
  const refresh = async (text: string) => (await tokens.refresh(text))?.refresh_token ?? "";

  it("that a thief uses first ends for both, when its holder uses it", async () => {
    const text = await start();
    clock.advance(DAY_MS);
    const stolen = await refresh(text);
    clock.advance(MINUTE_MS);

    expect(await refresh(text)).to.equal("");
    expect(await refresh(stolen)).to.equal("");
  });

  it("that a thief uses in the same minute ends for both, after the next use of each", async () => {
    const text = await start();
    clock.advance(DAY_MS);
    const [stolen, held] = [await refresh(text), await refresh(text)];
    expect(stolen).to.equal(held);

    clock.advance(MINUTE_MS);
    const next = await refresh(stolen);
    clock.advance(MINUTE_MS);

    expect(await refresh(held)).to.equal("");
    expect(await refresh(next)).to.equal("");
  });

  it("ends with its family at a sign-out by an older token, and no other does", async () => {
    const [text, other] = [await start(), await start()];
    clock.advance(MINUTE_MS);
    const next = await refresh(text);
    await tokens.revoke(`${next}x`);
    await tokens.revoke(next.replace(/^./, (digit) => (digit === "0" ? "1" : "0")));
    expect(await refresh(next)).to.equal(next);

    await tokens.revoke(text);

    expect([await refresh(next), await refresh(text)]).to.deep.equal(["", ""]);
    expect(await refresh(other)).to.not.equal("");
  });

  for (const call of ["find", "rotate", "after rotate"])
    it(`is a 503 while the database fails at ${call}, and counts after that`, async () => {
      const text = await start();
      clock.advance(MINUTE_MS);
      store.fails = (each) => each === call;
      expect(await rejectionOf(tokens.refresh(text))).to.have.property("status", 503);

      store.fails = () => false;
      const next = await refresh(text);
      expect(next).to.not.equal("").and.not.equal(text);
      expect(await refresh(text)).to.equal(next);
    });

  it("that is a copy ends its family after the database is back", async () => {
    const text = await start();
    clock.advance(MINUTE_MS);
    const next = await refresh(text);
    clock.advance(MINUTE_MS);
    store.fails = (each) => each === "delete";
    expect(await rejectionOf(tokens.refresh(text))).to.have.property("status", 503);
    store.fails = () => false;

    expect([await refresh(text), await refresh(next)]).to.deep.equal(["", ""]);
  });

  it("is not issued without its row, nor with scopes that would be others", async () => {
    const scopes = ["orders:read orders:write"];
    expect(await rejectionOf(tokens.start("ada", { scopes }))).to.have.property("status", 422);

    expect(await tokens.revokeAll("ada")).to.equal(0);
  });

  for (const [title, ms] of [
    ["a minute", MINUTE_MS],
    ["a day", DAY_MS],
  ] as const)
    it(`that is the current one counts while the clock goes back by ${title}`, async () => {
      let text = await start();
      clock.advance(2 * MINUTE_MS);
      text = await refresh(text);
      clock.setNow(clock.now() - ms);
      text = await refresh(text);
      clock.setNow(clock.now() + ms);

      expect(await refresh(text)).to.not.equal("");
    });
});

async function refreshIn(child: Child, text: string): Promise<string | null> {
  const response = await fetch(`${child.url}/refresh`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  return ((await response.json()) as { successor: string | null }).successor;
}

for (const engine of ENGINES)
  describe(`a refresh token of two processes in ${engine.name}`, () => {
    let db: AppDatabase;
    let url = "";
    openBefore(engine, (opened, given) => ([db, url] = [opened, given]));

    const startProcess = (minutes: number, keys: string) =>
      Child.start("../auth/jwt/refresh-process.js", {
        DATABASE: url,
        KEYS: keys,
        NOW: String(NOW * 1000 + minutes * MINUTE_MS),
      });

    it("has one successor, and as a copy it ends the family in all, also where another key signs", async () => {
      const clock = new FakeClock(NOW * 1000);
      const bindings = [...issuingOf(), ...refreshTokens({ keys: KEY })];
      await using app = await startAccounts({ db, clock, bindings });
      await addPerson(app, "ada");
      const text = (await app.resolve(RefreshTokens).start("ada", ACCESS))?.refresh_token ?? "";
      await using first = await startProcess(1, KEY);
      await using second = await startProcess(1, KEY);
      await using later = await startProcess(2, `${OTHER_KEY},${KEY}`);
      await Promise.all([first, second, later].map((each) => each.serves()));

      const requests = Array.from({ length: 20 }, (_, at) => refreshIn(at % 2 === 0 ? first : second, text));
      const successors = new Set(await Promise.all(requests));
      expect(successors.size).to.equal(1);
      const [successor] = successors;
      expect(successor).to.be.a("string").and.not.equal(text);

      expect(await refreshIn(later, text)).to.equal(null);
      for (const child of [first, second, later]) expect(await refreshIn(child, successor ?? "")).to.equal(null);
    });
  });
