/** The rows of a second step in a database, on each engine. */
import { DatabaseRecoveryCodes, DatabaseTotpSecrets } from "@stagecraft/framework/auth/db";
import { expect } from "chai";
import { ENGINES } from "../../idempotency/db/order-database.js";
import { type AppDatabase, openBefore } from "../auth-database.js";

const TRIES = Array.from({ length: 10 }, (_, at) => at);
const toHash = (digit: number) => String(digit).repeat(64);

for (const engine of ENGINES) {
  describe(`the rows of a second step in ${engine.name}`, function () {
    this.timeout(120_000);
    let db: AppDatabase;
    openBefore(engine, (opened) => void (db = opened));

    it("have one secret for each user, compared character by character", async () => {
      const secrets = new DatabaseTotpSecrets(db);
      const row = { userId: "José", secret: "s".repeat(71), lastStep: 5, createdAt: 1_700_000_000_123 };
      const other = { ...row, userId: "jose", secret: "S" };

      expect([await secrets.insert(row), await secrets.insert(other), await secrets.insert(other)]).to.deep.equal([
        true,
        true,
        false,
      ]);
      expect(await secrets.find("José")).to.deep.equal(row);
      expect([await secrets.delete("jose"), await secrets.delete("jose")]).to.deep.equal([true, false]);
      expect(await secrets.find("jose")).to.equal(undefined);
    });

    it("take each code once, of many that try, and none after a later one or of another secret", async () => {
      const secrets = new DatabaseTotpSecrets(db);
      const row = { userId: "codes", secret: "a", lastStep: 5, createdAt: 1 };
      await secrets.insert(row);

      const results = await Promise.all(TRIES.map(() => secrets.use(row, { step: 7, secret: "a" })));

      expect(results.filter(Boolean)).to.have.lengthOf(1);
      expect(await secrets.use(row, { step: 6, secret: "a" })).to.equal(false);
      expect(await secrets.use({ ...row, secret: "A" }, { step: 9, secret: "b" })).to.equal(false);
      expect(await secrets.use(row, { step: 8, secret: "b" })).to.equal(true);
      expect(await secrets.find("codes")).to.deep.equal({ ...row, lastStep: 8, secret: "b" });
    });

    it("give each recovery code to one caller of its user", async () => {
      const codes = new DatabaseRecoveryCodes(db);
      await codes.replace("ada", [1, 2, 3].map(toHash));
      await codes.replace("bob", [4].map(toHash));

      const results = await Promise.all(TRIES.map(() => codes.spend("ada", toHash(1))));

      expect(results.filter(Boolean)).to.have.lengthOf(1);
      expect(await codes.spend("ada", toHash(4))).to.equal(false);
      expect([await codes.count("ada"), await codes.count("bob")]).to.deep.equal([2, 1]);
      await codes.replace("ada", [5].map(toHash));
      expect(await codes.spend("ada", toHash(2))).to.equal(false);
      await codes.replace("ada", []);
      expect([await codes.count("ada"), await codes.count("bob")]).to.deep.equal([0, 1]);
    });

    it("keep a spent code spent in a transaction that rolls back, where the engine has a second writer", async () => {
      const codes = new DatabaseRecoveryCodes(db);
      await codes.replace("eve", [6].map(toHash));
      let failure: unknown;
      const work = async () => {
        await codes.spend("eve", toHash(6));
        throw new Error("later");
      };

      await db.transaction(work).catch((error: unknown) => (failure = error));

      if (engine.name === "SQLite") expect(failure).to.have.property("code", "E_DB_SECOND_CONNECTION");
      else expect([String(failure), await codes.count("eve")]).to.deep.equal(["Error: later", 0]);
    });
  });
}
