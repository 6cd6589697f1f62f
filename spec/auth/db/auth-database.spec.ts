/** The stores of an identity in a database, on each engine. */
import { inspect } from "node:util";
import {
  DatabaseApiTokens,
  DatabaseIdentities,
  DatabaseLinks,
  DatabaseRecoveryCodes,
} from "@stagecraft/framework/auth/db";
import { obeysApiTokenStore, obeysIdentities, obeysSingleUseLinks } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { ENGINES, openDriver } from "../../idempotency/db/order-database.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";
import { AppDatabase, openBefore } from "../auth-database.js";

for (const engine of ENGINES) {
  describe(`the tables of identities in ${engine.name}`, function () {
    this.timeout(120_000);
    let db: AppDatabase;
    let url: string;
    openBefore(engine, (...opened) => void ([db, url] = opened));

    it("obey the contract of identities", () => obeysIdentities(new DatabaseIdentities(db)));

    it("obey the contract of single-use links", () => obeysSingleUseLinks(new DatabaseLinks(db)));

    it("obey the contract of API tokens", () => obeysApiTokenStore(new DatabaseApiTokens(db)));

    it("lose the API tokens that have expired 30 days ago, in the background", async () => {
      const tokens = new DatabaseApiTokens(db);
      const add = (id: string, expiresAt: number | undefined, createdAt = 0) => {
        const token = { id: id.repeat(32), userId: "sweep", name: id, scopes: [], createdAt, expiresAt };
        return tokens.insert({ token: { ...token, lastUsedAt: undefined }, hash: id.repeat(64), max: 9 });
      };
      const now = 30 * 86_400_000 + 100;
      await add("a", 99);
      await add("b", now);
      await add("c", undefined);

      // The first sweep is due within a minute.
      await add("d", 101 + 60_000, now);
      await add("e", undefined, now + 60_000);
      const names = async () => (await tokens.listOfUser("sweep")).map((token) => token.name);
      await until(async () => !(await names()).includes("a"));

      expect(await names()).to.have.members(["b", "c", "d", "e"]);
    });

    it("keep the largest data of a sign-up", async () => {
      const links = new DatabaseLinks(db);
      const data = "é".repeat(8191);
      const link = { id: "d".repeat(32), purpose: "sign-up", email: "data@shop.example", expiresAt: 9, data } as const;

      await links.add(link);

      expect((await links.find(link.id, "sign-up", 1))?.data).to.equal(data);
    });

    it("lose the links that have expired, in the background", async () => {
      const links = new DatabaseLinks(db);
      const link = { id: "a".repeat(32), purpose: "reset", email: "ada@shop.example", expiresAt: 1 } as const;
      await links.add(link);

      // The first sweep is due within a minute.
      await links.spend(link.id, "reset", 2);
      await links.spend(link.id, "reset", 100_000);
      const count = async () => (await db.run("select id from framework_single_use_links where expires_at = 1")).length;
      await until(async () => (await count()) === 0);

      expect(await count()).to.equal(0);
    });

    it("lose all rows of a deleted identity, and no row of another user", async () => {
      const identities = new DatabaseIdentities(db);
      const codes = new DatabaseRecoveryCodes(db);
      const links = new DatabaseLinks(db);
      for (const [id, userId] of [
        ["e", "leaves"],
        ["f", "stays"],
      ] as const) {
        const values = {
          email: `${userId}@shop.example`,
          password: undefined,
          stamp: "s",
          verifiedAt: 1,
          createdAt: 1,
        };
        await identities.insert({ userId, ...values });
        await codes.replace(userId, [id.repeat(64)]);
        await links.add({ id: id.repeat(32), purpose: "reset", userId, email: values.email, expiresAt: 100 });
      }

      await identities.delete("leaves");

      expect(await identities.find("leaves")).to.equal(undefined);
      expect([await codes.count("leaves"), await codes.count("stays")]).to.deep.equal([0, 1]);
      const found = ["e", "f"].map(async (id) => (await links.find(id.repeat(32), "reset", 1))?.userId);
      expect(await Promise.all(found)).to.deep.equal([undefined, "stays"]);
    });

    it("are needed at the start", async () => {
      await using bare = new AppDatabase(openDriver(url));
      await db.run("alter table framework_identities rename to elsewhere");
      try {
        void new DatabaseIdentities(bare);
        const missing = await rejectionOf(bare.start());

        expect(missing).to.have.property("code", "E_DB_TABLE");
        expect(missing.message).to.include("list authMigrations of @stagecraft/framework/auth/db");
      } finally {
        await db.run("alter table elsewhere rename to framework_identities");
      }
    });

    it("give rows whose printed form shows no hash", async () => {
      const identities = new DatabaseIdentities(db);
      const values = { userId: "printed", email: "printed@shop.example", password: "HASH", stamp: "s" };
      await identities.insert({ ...values, verifiedAt: undefined, createdAt: 1 });

      const found = await identities.find("printed");

      expect(found?.password).to.equal("HASH");
      expect(inspect(found, { depth: 5, showHidden: true }) + JSON.stringify(found)).to.not.include("HASH");
    });
  });
}
