/**
 * The contract of a store of identities, for the test of a custom store. It runs on a store that works, and uses new users and addresses,
 * which it leaves there.
 *
 * @example
 * it("stores identities", () => obeysIdentities(new MyIdentities(pool)));
 */
import { randomBytes } from "node:crypto";
import type { Identities } from "../../../auth/identities.js";
import type { IdentityValues } from "../../../auth/identity.js";
import { checkPromises, type ContractPromise, type PromiseRun } from "../contract.js";

const PARALLEL = 10;
const AT = 1_700_000_000_123;

/** @throws AssertionError with every promise that the store breaks. The store is started, and stays so. */
export async function obeysIdentities(store: Identities): Promise<void> {
  const verdict = `${store.constructor.name || "the store"} does not obey the contract of identities`;
  await checkPromises(verdict, PROMISES, (keeps, means) => keeps(new IdentityTrial(store, means)));
}

/** A new person. */
class IdentityTrial {
  readonly equal: PromiseRun["equal"];
  readonly values = createValues();
  readonly userId = this.values.userId;

  constructor(
    readonly store: Identities,
    { equal }: PromiseRun,
  ) {
    this.equal = equal;
  }

  async insert(change: Partial<IdentityValues> = {}): Promise<boolean> {
    return this.store.insert({ ...this.values, ...change });
  }

  async expectStored(change: Partial<IdentityValues> = {}): Promise<void> {
    const expected = { ...this.values, ...change };
    const found = [await this.store.find(this.userId), await this.store.findByEmail(expected.email)];
    for (const each of found) this.equal(each && toValues(each), toValues(expected), "the identity");
  }

  async expectNone(email: string): Promise<void> {
    this.equal((await this.store.findByEmail(email))?.userId, undefined, `the identity of ${email}`);
  }

  replacePassword(password: string, from = this.values.stamp): Promise<boolean> {
    return this.store.setPassword(this.userId, { from, password, stamp: `stamp-${password}` });
  }
}

function createValues(): IdentityValues {
  const name = randomBytes(8).toString("hex");
  return {
    userId: `U${name}`,
    email: `josé.${name}@shop.example`,
    password: `hash-${name}`,
    stamp: name,
    verifiedAt: undefined,
    createdAt: AT,
  };
}

/** A list, in which `undefined` is compared too. */
function toValues({ userId, email, password, stamp, verifiedAt, createdAt }: IdentityValues): unknown {
  return [userId, email, password ?? "none", stamp, verifiedAt ?? "never", createdAt];
}

const PROMISES: readonly ContractPromise<IdentityTrial>[] = [
  [
    "returns a stored identity by its user and by its address",
    async (trial) => {
      trial.equal(await trial.insert(), true, "the result of the insert");
      await trial.expectStored();
    },
  ],
  [
    "stores an identity without a password, and one that is verified",
    async (trial) => {
      await trial.insert({ password: undefined, verifiedAt: AT });
      await trial.expectStored({ password: undefined, verifiedAt: AT });
    },
  ],
  [
    "compares users and addresses character by character",
    async (trial) => {
      await trial.insert();
      const { email, userId } = trial.values;
      await trial.expectNone(email.replace("é", "e"));
      await trial.expectNone(email.toUpperCase());
      trial.equal((await trial.store.find(userId.toLowerCase()))?.userId, undefined, "another user");
    },
  ],
  [
    "refuses a second identity of a user and of an address, also within a transaction that continues",
    async (trial) => {
      await trial.insert();
      const other = createValues();
      await trial.store.transaction(async () => {
        trial.equal(await trial.insert({ userId: other.userId }), false, "the result for the address");
        trial.equal(await trial.insert({ email: other.email }), false, "the result for the user");
        await trial.store.setVerified(trial.userId, AT);
      });
      await trial.expectStored({ verifiedAt: AT });
      await trial.expectNone(other.email);
    },
  ],
  [
    "replaces a password once for each stamp",
    async (trial) => {
      await trial.insert();
      const names = Array.from({ length: PARALLEL }, (_, at) => `password-${at}`);
      const results = await Promise.all(names.map((name) => trial.replacePassword(name)));
      trial.equal(results.filter(Boolean).length, 1, "the number of changes from one stamp");
      const password = names[results.indexOf(true)] ?? "";
      await trial.expectStored({ password, stamp: `stamp-${password}` });
      trial.equal(await trial.replacePassword("late"), false, "the result for an old stamp");
    },
  ],
  [
    "replaces a stamp once, and keeps the password",
    async (trial) => {
      await trial.insert();
      const { stamp: from } = trial.values;
      const stamps = Array.from({ length: PARALLEL }, (_, at) => `stamp-${at}`);
      const results = await Promise.all(stamps.map((stamp) => trial.store.setStamp(trial.userId, { from, stamp })));
      trial.equal(results.filter(Boolean).length, 1, "the number of changes from one stamp");
      await trial.expectStored({ stamp: stamps[results.indexOf(true)] ?? "" });
      trial.equal(await trial.store.setStamp("unknown", { from, stamp: "s" }), false, "the result for no identity");
    },
  ],
  [
    "sets an address that is verified, unless another identity has it",
    async (trial) => {
      await trial.insert();
      const other = createValues();
      trial.equal(await trial.store.setEmail(trial.userId, other.email, AT), true, "the result");
      await trial.expectNone(trial.values.email);
      await trial.expectStored({ email: other.email, verifiedAt: AT });
      await trial.store.insert({ ...other, email: trial.values.email });
      trial.equal(await trial.store.setEmail(other.userId, other.email, AT), false, "the result for a used address");
      trial.equal(await trial.store.setEmail("unknown", `x${other.email}`, AT), false, "the result for no identity");
    },
  ],
  [
    "verifies an address once",
    async (trial) => {
      await trial.insert();
      await trial.store.setVerified(trial.userId, AT);
      await trial.store.setVerified(trial.userId, AT + 1);
      await trial.expectStored({ verifiedAt: AT });
    },
  ],
  [
    "deletes an identity",
    async (trial) => {
      await trial.insert();
      await trial.store.delete(trial.userId);
      await trial.store.delete(trial.userId);
      await trial.expectNone(trial.values.email);
      trial.equal(await trial.insert(), true, "the result of a further insert");
    },
  ],
  [
    "changes nothing in a transaction that throws",
    async (trial) => {
      await trial.insert();
      const work = trial.store.transaction(async () => {
        await trial.store.delete(trial.userId);
        throw new Error("the work fails");
      });
      trial.equal(await work.catch((error: unknown) => String(error)), "Error: the work fails", "the error");
      await trial.expectStored();
    },
  ],
];
