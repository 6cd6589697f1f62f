/** The rows of passkeys in a database, on each engine, and the options of `passkeys()`. */
import type { Passkey } from "@stagecraft/framework/auth";
import { DatabasePasskeys } from "@stagecraft/framework/auth/db";
import { passkeys, type PasskeyOptions } from "@stagecraft/framework/auth/passkeys";
import { expect } from "chai";
import { ENGINES } from "../../idempotency/db/order-database.js";
import { type AppDatabase, openBefore } from "../auth-database.js";

const PASSKEY: Passkey = {
  id: "a".repeat(64),
  userId: "José",
  credentialId: "c".repeat(1364),
  publicKey: "k".repeat(700),
  counter: 4_294_967_295,
  transports: ["internal", "hybrid"],
  usage: "sign-in",
  name: "🔑".repeat(100),
  createdAt: 1_700_000_000_123,
  lastUsedAt: undefined,
};

for (const engine of ENGINES) {
  describe(`the rows of passkeys in ${engine.name}`, function () {
    this.timeout(120_000);
    let db: AppDatabase;
    openBefore(engine, (opened) => void (db = opened));

    it("come back as they were stored, once, to their user alone", async () => {
      const store = new DatabasePasskeys(db);
      const second: Passkey = { ...PASSKEY, id: "b".repeat(64), usage: "second-step", transports: [], createdAt: 1 };
      expect([await store.insert(PASSKEY), await store.insert(second), await store.insert(second)]).to.deep.equal([
        true,
        true,
        false,
      ]);

      expect(await store.find(PASSKEY.id)).to.deep.equal(PASSKEY);
      expect(await store.listOfUser("José")).to.deep.equal([second, PASSKEY]);
      expect(await store.listOfUser("jose")).to.deep.equal([]);
      expect([await store.rename("jose", second.id, "x"), await store.delete("jose", second.id)]).to.deep.equal([
        false,
        false,
      ]);
      expect(await store.rename("José", second.id, "Clé 🔑")).to.equal(true);
      expect((await store.find(second.id))?.name).to.equal("Clé 🔑");
      expect(await store.delete("José", second.id)).to.equal(true);
      expect(await store.find(second.id)).to.equal(undefined);
    });

    it("count each signature once, of many at the same time", async () => {
      const store = new DatabasePasskeys(db);
      const passkey = { ...PASSKEY, id: "d".repeat(64), userId: "counting", counter: 7 };
      await store.insert(passkey);
      const uses = Array.from({ length: 10 }, (_, at) =>
        store.use(passkey.id, { from: 7, counter: 8, challenge: `c${at}`, lastUsedAt: 9 }),
      );

      expect((await Promise.all(uses)).filter(Boolean)).to.have.lengthOf(1);
      expect(await store.find(passkey.id)).to.deep.equal({ ...passkey, counter: 8, lastUsedAt: 9 });
    });

    it("count each challenge once, of many at the same time, for a device without a counter", async () => {
      const store = new DatabasePasskeys(db);
      const passkey = { ...PASSKEY, id: "e".repeat(64), userId: "synced", counter: 0 };
      await store.insert(passkey);
      const use = (challenge: string) => store.use(passkey.id, { from: 0, counter: 0, challenge, lastUsedAt: 9 });

      for (const challenge of ["a".repeat(64), "b".repeat(64)]) {
        const uses = Array.from({ length: 10 }, () => use(challenge));
        expect((await Promise.all(uses)).filter(Boolean)).to.have.lengthOf(1);
      }
    });
  });
}

describe("the options of passkeys", () => {
  const wrong: readonly object[] = [{}, { name: "" }, { name: "x".repeat(65) }, { name: "Shop", origins: [] }];
  for (const rpId of ["https://shop.example", "shop.example:443", "shop.example/", "Shop.example", "a b", "", 7])
    it(`have no domain ${JSON.stringify(rpId)}`, () => {
      expect(() => passkeys({ name: "Shop", rpId: rpId as string }))
        .to.throw()
        .with.property("code", "E_AUTH_OPTION");
    });

  for (const options of [...wrong, { name: "Shop", origins: ["https://shop.example/"] }])
    it(`cannot be ${JSON.stringify(options).slice(0, 60)}`, () => {
      expect(() => passkeys(options as PasskeyOptions))
        .to.throw()
        .with.property("code", "E_AUTH_OPTION");
    });

  it("have no other names", () => {
    expect(() => passkeys({ name: "Shop", rpID: "x" } as PasskeyOptions))
      .to.throw()
      .with.property("code", "E_OPTION");
  });
});
