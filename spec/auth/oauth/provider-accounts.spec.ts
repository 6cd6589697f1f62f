/** The rows of accounts at providers in a database, on each engine. */
import { type ProviderAccount, toAccountId } from "@stagecraft/framework/auth";
import { DatabaseProviderAccounts } from "@stagecraft/framework/auth/db";
import { expect } from "chai";
import { ENGINES } from "../../idempotency/db/order-database.js";
import { type AppDatabase, openBefore } from "../auth-database.js";

const ISSUER = `https://${"i".repeat(247)}`;

function toAccount(subject: string, values: Partial<ProviderAccount> = {}): ProviderAccount {
  return {
    id: toAccountId(ISSUER, subject),
    userId: "José",
    provider: "acme",
    issuer: ISSUER,
    subject,
    email: "josé🔑@shop.example",
    createdAt: 1_700_000_000_123,
    lastUsedAt: 1_700_000_000_124,
    ...values,
  };
}

for (const engine of ENGINES) {
  describe(`the rows of accounts at providers in ${engine.name}`, function () {
    this.timeout(120_000);
    let db: AppDatabase;
    openBefore(engine, (opened) => void (db = opened));

    it("come back as they were stored, once, to their user alone", async () => {
      const store = new DatabaseProviderAccounts(db);
      const [first, second] = [toAccount("s".repeat(255)), toAccount("Second", { createdAt: 1 })];
      expect([await store.insert(first), await store.insert(second), await store.insert(second)]).to.deep.equal([
        true,
        true,
        false,
      ]);

      expect(await store.find(first.id)).to.deep.equal(first);
      expect(await store.find(toAccountId(ISSUER, "second"))).to.equal(undefined);
      expect(await store.listOfUser("José")).to.deep.equal([second, first]);
      expect(await store.listOfUser("jose")).to.deep.equal([]);
      await store.setUsed(second.id, { email: "", lastUsedAt: 9 });
      expect(await store.find(second.id)).to.deep.equal({ ...second, email: "", lastUsedAt: 9 });
      expect([await store.delete("jose", second.id), await store.delete("José", second.id)]).to.deep.equal([
        false,
        true,
      ]);
    });

    it("give the lease of their tokens to one of many, until it ends or the tokens change", async () => {
      const store = new DatabaseProviderAccounts(db);
      const { id } = toAccount("leased");
      await store.insert(toAccount("leased"));
      expect(await store.findTokens(id)).to.equal(undefined);
      await store.setTokens(id, { tokens: "t".repeat(60_000), expiresAt: undefined });
      const stored = await store.findTokens(id);
      const version = stored?.version ?? -1;
      const lease = (now: number, until: number) => store.leaseTokens(id, { version, now, until });

      const leases = await Promise.all(Array.from({ length: 10 }, () => lease(100, 200)));

      expect(stored).to.deep.equal({ tokens: "t".repeat(60_000), expiresAt: undefined, version });
      expect(leases.filter(Boolean)).to.have.lengthOf(1);
      expect([await lease(200, 300), await lease(201, 301)]).to.deep.equal([false, true]);
      const late = await store.setTokens(id, { tokens: "late", expiresAt: 1 }, 200);
      const current = await store.setTokens(id, { tokens: "new", expiresAt: 7 }, 301);
      expect([late, current, await lease(900, 1000)]).to.deep.equal([false, true, false]);
      expect(await store.findTokens(id)).to.deep.equal({ tokens: "new", expiresAt: 7, version: version + 1 });
      await store.setTokens(id, undefined);
      expect(await store.findTokens(id)).to.equal(undefined);
    });

    it("give an attempt to one of many", async () => {
      const store = new DatabaseProviderAccounts(db);
      const times = { now: 1, expiresAt: 2 };
      const uses = Array.from({ length: 10 }, () => store.useAttempt("a".repeat(64), times));

      expect((await Promise.all(uses)).filter(Boolean)).to.have.lengthOf(1);
    });
  });
}
