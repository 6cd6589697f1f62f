/** Refresh tokens: their rotation, copies, requests at the same time, and what ends them. */
import { inspect } from "node:util";
import {
  Application,
  Clock,
  type ContextOf,
  Controller,
  inject,
  Module,
  Post,
  provide,
  Reply,
  routes,
} from "@stagecraft/framework";
import { Identities } from "@stagecraft/framework/auth";
import { RefreshTokens, refreshTokens, RefreshTokenStore, TokenSubjects } from "@stagecraft/framework/auth/jwt";
import { expectNoLeak, FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";
import { AppDatabase, openBefore } from "../auth-database.js";
import { addPerson, AppUsers, startAccounts } from "../account-application.js";
import { errorOf } from "../../support/error-of.js";
import { ENGINES } from "../../idempotency/db/order-database.js";
import { NOW } from "./bearer-application.js";
import { ACCESS, issuingOf, KEY } from "./issuing-application.js";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const body = z.object({ refresh_token: z.string(), client_id: z.string().optional() });
const session = routes("session", "/session", { refresh: Post("/refresh", { body }) });

@Controller(session)
class SessionController {
  private readonly tokens = inject(RefreshTokens);

  @session.refresh async refresh({ input }: ContextOf<typeof session.refresh>) {
    const tokens = await this.tokens.refresh(input.body.refresh_token, input.body.client_id);
    return tokens ?? Reply.json({ error: "invalid_grant" }, 400);
  }
}

for (const engine of ENGINES)
  describe(`refresh tokens in ${engine.name}`, () => {
    let db: AppDatabase;
    let app: TestApp;
    let clock: FakeClock;
    let tokens: RefreshTokens;

    openBefore(engine, (opened) => (db = opened));
    beforeEach(async () => {
      clock = new FakeClock(NOW * 1000);
      const bindings = [...issuingOf(), ...refreshTokens({ keys: KEY })];
      app = await startAccounts({ db, clock, bindings, controllers: [SessionController] });
      tokens = app.resolve(RefreshTokens);
      await addPerson(app, "ada").catch(() => undefined);
    });
    afterEach(() => app.stop());

    const start = async () => (await tokens.start("ada", ACCESS))?.refresh_token ?? "";

    async function refresh(text: string, clientId?: string): Promise<string | undefined> {
      const response = await app.post(session.refresh.url(), { json: { refresh_token: text, client_id: clientId } });
      return (await response.json<{ refresh_token?: string }>()).refresh_token;
    }

    it("give an access token and a successor, again and again", async () => {
      const first = await tokens.start("ada", ACCESS);
      expect(first).to.include({ token_type: "Bearer", expires_in: 600, scope: "orders:read orders:list" });

      let text = first?.refresh_token ?? "";
      for (let at = 0; at < 3; at++) {
        clock.advance(DAY_MS);
        const next = await tokens.refresh(text);
        expect(next?.refresh_token).to.be.a("string").and.not.equal(text);
        expect(next?.access_token.split(".")).to.have.lengthOf(3);
        text = next?.refresh_token ?? "";
      }
    });

    it("give the same successor to ten requests at the same time, and to one that lost its response", async () => {
      const text = await start();
      clock.advance(MINUTE_MS);

      const successors = await Promise.all(Array.from({ length: 10 }, () => refresh(text)));

      expect(new Set(successors).size).to.equal(1);
      expect(successors[0]).to.be.a("string");
      clock.advance(MINUTE_MS - 1);
      expect(await refresh(text)).to.equal(successors[0]);
    });

    it("end with their family when one is used twice", async () => {
      const text = await start();
      clock.advance(MINUTE_MS);
      const successor = (await refresh(text)) ?? "";
      clock.advance(MINUTE_MS);

      expect(await refresh(text)).to.equal(undefined);
      expect(await refresh(successor)).to.equal(undefined);
      expect(app.logs.lines().join()).to.include("refresh token used twice");
    });

    it("end with a changed stamp, with a user who may not sign in, and with a deleted identity", async () => {
      const text = await start();
      const users = app.resolve(AppUsers);
      users.deactivated.add("ada");
      expect([await refresh(text), await tokens.start("ada")]).to.deep.equal([undefined, undefined]);
      users.deactivated.delete("ada");
      expect(await refresh(text)).to.be.a("string");

      const identities = app.resolve(Identities);
      const stamp = (await identities.find("ada"))?.stamp ?? "";
      await identities.setPassword("ada", { from: stamp, stamp: `${stamp}+`, password: "a hash" });
      expect(await refresh(text)).to.equal(undefined);

      const later = await start();
      await identities.delete("ada");
      expect(await refresh(later)).to.equal(undefined);
      expect(await tokens.revokeAll("ada")).to.equal(0);
    });

    it("end at a sign-out, all of a person at once, and 30 days after the last use", async () => {
      const [one, two, three] = [await start(), await start(), await start()];
      await tokens.revoke(one);
      expect([await refresh(one), typeof (await refresh(two))]).to.deep.equal([undefined, "string"]);
      clock.advance(29 * DAY_MS);
      const later = (await refresh(two)) ?? "";
      clock.advance(2 * DAY_MS);
      expect([typeof (await refresh(later)), await refresh(three)]).to.deep.equal(["string", undefined]);

      expect(await tokens.revokeAll("ada")).to.be.above(0);
      expect(await refresh(later)).to.equal(undefined);
    });

    it("of another program are refused", async () => {
      const text = await start();

      expect([await refresh(text, "other"), typeof (await refresh(text, "till"))]).to.deep.equal([undefined, "string"]);
    });

    it("stand in no log, and not in the table", async () => {
      const text = await start();
      await refresh(`${text}x`);
      clock.advance(MINUTE_MS);
      await refresh(text);
      clock.advance(MINUTE_MS);
      await refresh(text);

      const mac = text.split(".").at(-1) ?? "";
      const other = await start();
      const rows = JSON.stringify(await app.resolve(RefreshTokenStore).find(other.split(".")[0] ?? "", 0));
      const lines = app.logs.lines().join();
      expect(lines).to.include("refresh token refused").and.include("refresh token used twice").and.not.include(mac);
      expect(rows).to.include("ada").and.not.include(other.split(".").at(-1));
      expect(inspect(tokens, { depth: 12, showHidden: true }))
        .to.not.include(KEY)
        .and.not.include(mac);
      await expectNoLeak(app, mac.replaceAll(/[-_]/g, "").slice(0, 30));
    });
  });

describe("refresh tokens", () => {
  it("are refused as any other text", async () => {
    const bindings = [...issuingOf(), ...refreshTokens({ keys: KEY })];
    await using app = await startAccounts({ bindings });
    const tokens = app.resolve(RefreshTokens);

    for (const text of ["", "x", `${"a".repeat(32)}.0.${"A".repeat(43)}`, "a".repeat(100_000), undefined, null, 7])
      expect(await tokens.refresh(text as string)).to.equal(undefined);
  });

  it("serve an application with other users, by their stamps", async () => {
    class Members extends TokenSubjects {
      stamp: string | undefined = "one";
      override findStamp() {
        return Promise.resolve(this.stamp);
      }
    }
    class MemoryFamilies extends RefreshTokenStore {
      private readonly rows = new Map<string, Parameters<RefreshTokenStore["insert"]>[0]>();
      override insert(family: Parameters<RefreshTokenStore["insert"]>[0]) {
        this.rows.set(family.selector, family);
        return Promise.resolve();
      }
      override find(selector: string) {
        return Promise.resolve(this.rows.get(selector));
      }
      override rotate() {
        return Promise.resolve(true);
      }
      override delete() {
        return Promise.resolve();
      }
      override deleteOfSubject() {
        return Promise.resolve(0);
      }
    }
    const store = provide(RefreshTokenStore).useValue(new MemoryFamilies());
    @Module({ providers: [Members, store, ...issuingOf(), ...refreshTokens({ keys: KEY, subjects: Members })] })
    class MembersModule {}
    await using app = await testApp(Application.create(MembersModule), provide(Clock).useValue(new FakeClock()));
    const tokens = app.resolve(RefreshTokens);
    const text = (await tokens.start("member-1"))?.refresh_token ?? "";

    expect(await tokens.refresh(text)).to.have.property("scope", "");
    app.resolve(Members).stamp = "two";
    expect(await tokens.refresh(text)).to.equal(undefined);
  });

  it("take keys, and a lifetime below a year", () => {
    for (const [code, options] of [
      ["E_CRYPTO_KEY", { keys: "5a" }],
      ["E_AUTH_OPTION", { keys: KEY, lifetimeMs: 0 }],
      ["E_OPTION", { keys: KEY, lifetime: 7 }],
    ] as const)
      expect(errorOf(() => refreshTokens(options as never))).to.have.property("code", code);
  });
});
