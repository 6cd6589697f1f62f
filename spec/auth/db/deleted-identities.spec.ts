/** The rows of a user whose identity is deleted, on each engine. */
import {
  DatabaseApiTokens,
  DatabaseIdentities,
  DatabaseLinks,
  DatabasePasskeys,
  DatabaseProviderAccounts,
  DatabaseRecoveryCodes,
  DatabaseRefreshTokens,
  DatabaseRememberTokens,
  DatabaseTotpSecrets,
} from "@stagecraft/framework/auth/db";
import { expect } from "chai";
import { ENGINES } from "../../idempotency/db/order-database.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { type AppDatabase, openBefore } from "../auth-database.js";

/** Tables with rows of users that belong to another part. */
const OTHERS = ["framework_sessions"];

async function addRows(db: AppDatabase, userId: string, digit: string): Promise<void> {
  const id = digit.repeat(32);
  const times = { createdAt: 1, rotatedAt: 1, expiresAt: Number.MAX_SAFE_INTEGER, lastUsedAt: undefined };
  const email = `${userId}@shop.example`;
  await new DatabaseIdentities(db).insert({
    userId,
    email,
    password: "hash",
    stamp: "s",
    verifiedAt: 1,
    createdAt: 1,
  });
  await new DatabaseLinks(db).add({ id, purpose: "reset", userId, email, stamp: "s", expiresAt: times.expiresAt });
  const device = { userAgent: "", address: "" };
  const token = { selector: id, userId, signInId: id, stamp: "s", method: "password", generation: 0 } as const;
  await new DatabaseRememberTokens(db).insert({ ...token, ...device, ...times });
  await new DatabaseTotpSecrets(db).insert({ userId, secret: "secret", lastStep: 1, createdAt: 1 });
  await new DatabaseRecoveryCodes(db).replace(userId, [digit.repeat(64)]);
  const passkey = { id: digit.repeat(64), userId, credentialId: "c", publicKey: "k", counter: 0, transports: [] };
  await new DatabasePasskeys(db).insert({ ...passkey, usage: "sign-in", name: "phone", ...times });
  const account = { id: digit.repeat(64), userId, provider: "p", issuer: "https://p.example", subject: digit, email };
  await new DatabaseProviderAccounts(db).insert({ ...account, createdAt: 1, lastUsedAt: 1 });
  const apiToken = { id, userId, name: "cli", scopes: [], ...times };
  const family = { selector: id, subject: userId, clientId: undefined, scopes: [], stamp: "s", generation: 0 };
  await new DatabaseRefreshTokens(db).insert({ ...family, ...times });
  await new DatabaseApiTokens(db).insert({ token: apiToken, hash: digit.repeat(64), max: 9 });
}

/** The tables that have a column with the id of a user, as the engine lists them. */
async function listTables(db: AppDatabase): Promise<readonly string[]> {
  const tables = await db.query.introspection.getTables();
  return tables
    .filter(({ columns }) => columns.some(({ name }) => name === "user_id"))
    .map(({ name }) => name)
    .filter((name) => name.startsWith("framework_") && !OTHERS.includes(name));
}

async function countRows(db: AppDatabase, userId: string): Promise<readonly number[]> {
  const counts = (await listTables(db)).map(
    async (table) => (await db.run(`select 1 from ${table} where user_id = '${userId}'`)).length,
  );
  return Promise.all(counts);
}

for (const engine of ENGINES) {
  describe(`an identity that is deleted from ${engine.name}`, function () {
    this.timeout(120_000);
    let db: AppDatabase;
    openBefore(engine, (opened) => void (db = opened));

    it("leaves no row of its user in any table, and all rows of others", async () => {
      await addRows(db, "ada", "a");
      await addRows(db, "eve", "e");
      const before = await countRows(db, "ada");
      expect(before).to.have.length.of.at.least(8);
      expect(new Set(before)).to.deep.equal(new Set([1]));

      await new DatabaseIdentities(db).delete("ada");

      expect(new Set(await countRows(db, "ada"))).to.deep.equal(new Set([0]));
      expect(new Set(await countRows(db, "eve"))).to.deep.equal(new Set([1]));
    });

    it("is back with all its rows where the transaction around it rolls back", async () => {
      await addRows(db, "bob", "b");
      const identities = new DatabaseIdentities(db);

      await rejectionOf(
        identities.transaction(async () => {
          await identities.delete("bob");
          throw new Error("the row of the user cannot be deleted");
        }),
      );

      expect(new Set(await countRows(db, "bob"))).to.deep.equal(new Set([1]));
    });
  });
}
