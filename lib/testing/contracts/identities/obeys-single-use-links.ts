/**
 * The contract of a store of single-use links, for the test of a custom store. It runs on a store that works, and uses new links.
 *
 * @example
 * it("stores links", () => obeysSingleUseLinks(new MyLinks(pool)));
 */
import { randomBytes } from "node:crypto";
import { createLinkId, type LinkValues, type SingleUseLinks } from "../../../auth/links/single-use-links.js";
import { checkPromises, type ContractPromise, type PromiseRun } from "../contract.js";

const PARALLEL = 10;
const NOW = 1_700_000_000_123;

/** @throws AssertionError with every promise that the store breaks. The store is started, and stays so. */
export async function obeysSingleUseLinks(store: SingleUseLinks): Promise<void> {
  const verdict = `${store.constructor.name || "the store"} does not obey the contract of single-use links`;
  await checkPromises(verdict, PROMISES, (keeps, means) => keeps(new LinkTrial(store, means)));
}

/** A new link. */
class LinkTrial {
  readonly equal: PromiseRun["equal"];
  readonly link: LinkValues = createLink();
  readonly id = this.link.id;

  constructor(
    readonly store: SingleUseLinks,
    { equal }: PromiseRun,
  ) {
    this.equal = equal;
  }

  async expectValid(isValid: boolean, { id, purpose }: LinkValues = this.link): Promise<void> {
    this.equal((await this.store.find(id, purpose, NOW)) !== undefined, isValid, `whether ${purpose} is valid`);
  }
}

function createLink(): LinkValues {
  const name = randomBytes(8).toString("hex");
  return {
    id: createLinkId(),
    purpose: "reset",
    userId: `U${name}`,
    email: `josé.${name}@shop.example`,
    stamp: name,
    password: undefined,
    data: null,
    expiresAt: NOW,
  };
}

/** A list, in which `undefined` is compared too. */
function toValues({ id, purpose, userId, email, stamp, password, data, expiresAt }: LinkValues): unknown {
  return [id, purpose, userId ?? "none", email, stamp ?? "none", password ?? "none", data, expiresAt];
}

const PROMISES: readonly ContractPromise<LinkTrial>[] = [
  [
    "returns a link as often as it is asked for",
    async ({ store, link, id, equal }) => {
      await store.add(link);
      for (const _ of [1, 2]) {
        const found = await store.find(id, "reset", NOW);
        equal(found && toValues(found), toValues(link), "the link");
      }
    },
  ],
  [
    "stores the sign-up of a person without a user",
    async ({ store, id, equal }) => {
      const signUp: LinkValues = {
        id,
        purpose: "sign-up",
        email: "ada@shop.example",
        password: "hash",
        data: { name: "Ådå 🧺", tags: [] },
        expiresAt: NOW,
      };
      await store.add(signUp);
      const found = await store.spend(id, "sign-up", NOW);
      equal(found && toValues(found), toValues(signUp), "the link");
    },
  ],
  [
    "has no link of another purpose, and none that has expired",
    async ({ store, link, id, equal }) => {
      await store.add(link);
      for (const found of [store.find(id, "sign-in", NOW), store.spend(id, "sign-in", NOW)])
        equal((await found)?.id, undefined, "the link of another purpose");
      for (const found of [store.find(id, "reset", NOW + 1), store.spend(id, "reset", NOW + 1)])
        equal((await found)?.id, undefined, "the expired link");
    },
  ],
  [
    "spends a link once, of many that try at the same time",
    async (trial) => {
      await trial.store.add(trial.link);
      const tries = Array.from({ length: PARALLEL }, () => trial.store.spend(trial.id, "reset", NOW));
      const spent = (await Promise.all(tries)).filter((each) => each !== undefined);
      trial.equal(spent.map(toValues), [toValues(trial.link)], "the links that were spent");
      await trial.expectValid(false);
    },
  ],
  [
    "deletes the links of a user, of all purposes",
    async (trial) => {
      const other = createLink();
      const second: LinkValues = { ...trial.link, id: createLinkId(), purpose: "sign-in" };
      for (const each of [trial.link, second, other]) await trial.store.add(each);
      await trial.store.deleteOfUser(trial.link.userId ?? "");
      await trial.expectValid(false);
      await trial.expectValid(false, second);
      await trial.expectValid(true, other);
    },
  ],
  [
    "deletes the sign-ups of an address",
    async (trial) => {
      const signUp: LinkValues = { ...trial.link, id: createLinkId(), purpose: "sign-up" };
      for (const each of [trial.link, signUp]) await trial.store.add(each);
      await trial.store.deleteSignUps(trial.link.email);
      await trial.expectValid(false, signUp);
      await trial.expectValid(true);
    },
  ],
];
