/**
 * The contract of a store of API tokens, for the test of a custom store. It runs on a store that works, and uses new users, whose tokens it
 * leaves there.
 *
 * @example
 * it("stores tokens", () => obeysApiTokenStore(new MyTokens(pool)));
 */
import { randomBytes } from "node:crypto";
import type { ApiToken, ApiTokenStore } from "../../../auth/tokens/api-token-store.js";
import { checkPromises, type ContractPromise, type PromiseRun } from "../contract.js";

const PARALLEL = 10;
const MAX = 3;
const AT = 1_700_000_000_123;
const MINUTE_MS = 60_000;

/** @throws AssertionError with every promise that the store breaks. The store is started, and stays so. */
export async function obeysApiTokenStore(store: ApiTokenStore): Promise<void> {
  const verdict = `${store.constructor.name || "the store"} does not obey the contract of API tokens`;
  await checkPromises(verdict, PROMISES, (keeps, means) => keeps(new TokenTrial(store, means)));
}

/** A new user. */
class TokenTrial {
  readonly equal: PromiseRun["equal"];
  readonly userId = `U${createDigits(8)}`;

  constructor(
    readonly store: ApiTokenStore,
    { equal }: PromiseRun,
  ) {
    this.equal = equal;
  }

  /** Adds a token. Returns it with its hash. */
  async insert(change: Partial<ApiToken> = {}): Promise<readonly [token: ApiToken, hash: string]> {
    const hash = createDigits(32);
    const token = { ...createToken(this.userId), ...change };
    this.equal(await this.store.insert({ token, hash, max: MAX }), true, "the result of the insert");
    return [token, hash];
  }

  async expectStored(hash: string, token: ApiToken): Promise<void> {
    const found = await this.store.findByHash(hash);
    this.equal(found && toValues(found), toValues(token), "the token");
  }

  async expectIds(userId: string, tokens: readonly ApiToken[]): Promise<void> {
    const found = (await this.store.listOfUser(userId)).map(({ id }) => id);
    const ids = tokens.map(({ id }) => id);
    this.equal(found, ids, "the ids of the list");
  }
}

function createToken(userId: string): ApiToken {
  return {
    id: createDigits(16),
    userId,
    name: "Ådå's laptop 🧺",
    scopes: ["links:read", "links:write"],
    createdAt: AT,
    expiresAt: AT + MINUTE_MS,
    lastUsedAt: undefined,
  };
}

function createDigits(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}

/** A list, in which `undefined` is compared too. */
function toValues({ id, userId, name, scopes, createdAt, expiresAt, lastUsedAt }: ApiToken): unknown {
  return [id, userId, name, scopes, createdAt, expiresAt ?? "never", lastUsedAt ?? "never"];
}

const PROMISES: readonly ContractPromise<TokenTrial>[] = [
  [
    "returns a token by its hash, also one that has expired",
    async (trial) => {
      const [token, hash] = await trial.insert({ expiresAt: 1 });
      await trial.expectStored(hash, token);
      trial.equal((await trial.store.findByHash(createDigits(32)))?.id, undefined, "the token of another hash");
    },
  ],
  [
    "stores a token without an end, and one without scopes",
    async (trial) => {
      const [token, hash] = await trial.insert({ expiresAt: undefined, scopes: [] });
      await trial.expectStored(hash, token);
    },
  ],
  [
    "stores the largest name and the most scopes",
    async (trial) => {
      const scopes = Array.from({ length: 32 }, (_, at) => String(at).padStart(64, "s"));
      const [token, hash] = await trial.insert({ scopes, name: "é".repeat(100) });
      await trial.expectStored(hash, token);
    },
  ],
  [
    "lists the tokens of a user, the latest first, and those of no other",
    async (trial) => {
      const [first] = await trial.insert();
      const [second] = await trial.insert({ createdAt: AT + 1, expiresAt: 1 });
      await trial.insert({ userId: `${trial.userId}2` });
      await trial.expectIds(trial.userId, [second, first]);
      await trial.expectIds(trial.userId.toLowerCase(), []);
    },
  ],
  [
    "refuses more tokens than the bound, also of many calls at the same time",
    async ({ store, equal, userId }) => {
      const tokens = Array.from({ length: PARALLEL }, () => createToken(userId));
      const add = (token: ApiToken) => store.insert({ token, hash: createDigits(32), max: MAX });
      const results = await Promise.all(tokens.map(add));
      const stored = (await store.listOfUser(userId)).length;
      equal(stored, results.filter(Boolean).length, "the number of tokens that are stored");
      equal(stored <= MAX, true, "whether the bound holds");
      for (let at = stored; at < MAX; at++) equal(await add(createToken(userId)), true, "a token below the bound");
      equal(await add(createToken(userId)), false, "a token beyond the bound");
    },
  ],
  [
    "sets the time of the last use once in its time",
    async (trial) => {
      const [token, hash] = await trial.insert();
      const uses = [0, 1, MINUTE_MS - 1, MINUTE_MS, MINUTE_MS + 1];
      const stored = [0, 0, 0, MINUTE_MS, MINUTE_MS];
      for (const [at, use] of uses.entries()) {
        await trial.store.setUsed(token.id, AT + use, MINUTE_MS);
        await trial.expectStored(hash, { ...token, lastUsedAt: AT + (stored[at] ?? 0) });
      }
      await trial.store.setUsed(createDigits(16), AT, MINUTE_MS);
    },
  ],
  [
    "deletes a token of its user alone",
    async (trial) => {
      const [token, hash] = await trial.insert();
      trial.equal(await trial.store.delete("another", token.id), false, "the result for another user");
      await trial.expectStored(hash, token);
      trial.equal(await trial.store.delete(trial.userId, token.id), true, "the result");
      trial.equal(await trial.store.delete(trial.userId, token.id), false, "the result for a deleted token");
      trial.equal((await trial.store.findByHash(hash))?.id, undefined, "the deleted token");
    },
  ],
  [
    "deletes the tokens of a user, and those of no other",
    async (trial) => {
      const [other] = await trial.insert({ userId: `${trial.userId}2` });
      for (const _ of [1, 2]) await trial.insert();
      trial.equal(await trial.store.deleteOfUser(trial.userId), 2, "the number");
      await trial.expectIds(trial.userId, []);
      await trial.expectIds(`${trial.userId}2`, [other]);
    },
  ],
];
