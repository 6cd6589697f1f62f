/**
 * The promises of a session store about owners: `listOfOwner` finds the sessions of an owner, while they are created, moved and ended.
 *
 * Internal: `obeysSessionStore` checks them with the others.
 */
import { NO_CHANGES, OWNER_NAME, RENEW_AFTER_MS } from "../../../stages/session/stores/session-store.js";
import type { ContractPromise } from "../contract.js";
import { createChange, createKey, IDLE_MS, PARALLEL, type SessionTrial } from "./session-trial.js";

/** A store that compares owners by a collation, or as a pattern, takes one of them for the first. */
const SIMILAR_NAMES = ["Ada", "ada", "Ada ", "\u00C1da", "A\u0301da", "Ada\u0000", "Ad", "*"];

export const OWNER_PROMISES: readonly ContractPromise<SessionTrial>[] = [
  [
    "the sessions of an owner are listed with their values, the one renewed last first",
    async (trial) => {
      const [owner, other] = [createOwner(), trial.createOther()];
      await trial.create({ [OWNER_NAME]: owner, name: '"Ada"' });
      await other.create({ [OWNER_NAME]: owner });
      await trial.createOther().create({ [OWNER_NAME]: createOwner() });
      await trial.createOther().create();
      await trial.store.update(trial.key, NO_CHANGES, trial.timesAt(RENEW_AFTER_MS));
      const records = await trial.store.listOfOwner(owner, trial.start + RENEW_AFTER_MS);
      const [first] = records;
      trial.expect("the keys", getKeys(records), [trial.key, other.key]);
      trial.expect("a value", first?.values.get("name"), '"Ada"');
      trial.expect("renewedAt", first?.renewedAt, trial.start + RENEW_AFTER_MS);
    },
  ],
  [
    "owners are compared exactly",
    async (trial) => {
      const prefix = createKey();
      const owners = SIMILAR_NAMES.map((name) => JSON.stringify(prefix + name));
      const sessions = owners.map((owner) => ({ owner, other: trial.createOther() }));
      for (const { owner, other } of sessions) await other.create({ [OWNER_NAME]: owner });
      for (const { owner, other } of sessions)
        trial.expect(`the sessions of ${owner}`, await listKeys(trial, owner, 0), [other.key]);
    },
  ],
  [
    "an update sets, changes and removes the owner",
    async (trial) => {
      const [first, second] = [createOwner(), createOwner()];
      const listBoth = async (ms: number) => [
        (await listKeys(trial, first, ms)).length,
        (await listKeys(trial, second, ms)).length,
      ];
      await trial.create();
      await trial.store.update(trial.key, createChange(OWNER_NAME, first), trial.timesAt(1));
      trial.expect("the sessions after it was set", await listBoth(1), [1, 0]);
      await trial.store.update(trial.key, createChange("name", '"Eve"'), trial.timesAt(2));
      trial.expect("the sessions after another value was set", await listBoth(2), [1, 0]);
      await trial.store.update(trial.key, createChange(OWNER_NAME, second), trial.timesAt(3));
      trial.expect("the sessions after it was changed", await listBoth(3), [0, 1]);
      await trial.store.update(trial.key, { set: new Map(), deleted: [OWNER_NAME] }, trial.timesAt(4));
      trial.expect("the sessions after it was removed", await listBoth(4), [0, 0]);
    },
  ],
  [
    "a move keeps the owner, sets it and removes it",
    async (trial) => {
      const [owner, one, two, three] = [createOwner(), createKey(), createKey(), createKey()];
      await trial.create();
      await trial.store.move(trial.key, one, createChange(OWNER_NAME, owner), trial.timesAt(1));
      trial.expect("the sessions after it was set", await listKeys(trial, owner, 1), [one]);
      await trial.store.move(one, two, NO_CHANGES, trial.timesAt(2));
      trial.expect("the sessions after a move", await listKeys(trial, owner, 2), [two]);
      await trial.store.move(two, three, { set: new Map(), deleted: [OWNER_NAME] }, trial.timesAt(3));
      trial.expect("the sessions after it was removed", await listKeys(trial, owner, 3), []);
    },
  ],
  [
    "expired and ended sessions of an owner are not listed",
    async (trial) => {
      const [owner, ended] = [createOwner(), trial.createOther()];
      await trial.create({ [OWNER_NAME]: owner });
      await ended.create({ [OWNER_NAME]: owner });
      await trial.store.end(ended.key, trial.start + 1);
      trial.expect("the sessions after one has ended", await listKeys(trial, owner, 1), [trial.key]);
      trial.expect("the sessions just before the other expires", await listKeys(trial, owner, IDLE_MS - 1), [
        trial.key,
      ]);
      trial.expect("the sessions after it has expired", await listKeys(trial, owner, IDLE_MS), []);
    },
  ],
  [
    "a renewal keeps a session in the list of its owner",
    async (trial) => {
      const owner = createOwner();
      await trial.create({ [OWNER_NAME]: owner });
      const half = IDLE_MS / 2;
      await trial.store.update(trial.key, NO_CHANGES, trial.timesAt(half));
      trial.expect("the sessions at the end", await listKeys(trial, owner, half + IDLE_MS - 1), [trial.key]);
    },
  ],
  [
    "a session that moves is in every list once",
    async (trial) => {
      const owner = createOwner();
      await trial.create({ [OWNER_NAME]: owner });
      const lengths = new Set<number>();
      const readNumber = async (): Promise<void> => void lengths.add((await listKeys(trial, owner, 1)).length);
      await moveOften(trial, readNumber);
      trial.expect("the numbers of sessions", [...lengths], [1]);
    },
  ],
  [
    "sessions that are created, moved and ended at the same time are listed as they are then",
    async (trial) => {
      const owner = createOwner();
      const others = Array.from({ length: PARALLEL }, () => trial.createOther());
      const left = await Promise.all(others.map((other, at) => useSession(other, owner, at)));
      const expected = left.filter((key) => key !== undefined).toSorted();
      trial.expect("the keys", (await listKeys(trial, owner, 1)).toSorted(), expected);
    },
  ],
];

/** The next request of a session may move or end it. Returns its key; `undefined` for one that has ended. */
async function useSession(trial: SessionTrial, owner: string, at: number): Promise<string | undefined> {
  const { store, key } = trial;
  await trial.create({ [OWNER_NAME]: owner });
  await listKeys(trial, owner, 0);
  if (at % 3 === 0) return key;
  if (at % 3 === 1) {
    await store.end(key, trial.start);
    return undefined;
  }
  const moved = createKey();
  await store.move(key, moved, createChange("at", String(at)), trial.timesAt(0));
  return moved;
}

async function moveOften(trial: SessionTrial, read: () => Promise<void>): Promise<void> {
  let key = trial.key;
  for (let count = 0; count < PARALLEL; count++) {
    const next = createKey();
    const changes = count % 2 === 0 ? NO_CHANGES : createChange("count", String(count));
    await Promise.all([read(), trial.store.move(key, next, changes, trial.timesAt(0)), read()]);
    key = next;
  }
}

async function listKeys(trial: SessionTrial, owner: string, ms: number): Promise<readonly string[]> {
  return getKeys(await trial.store.listOfOwner(owner, trial.start + ms));
}

function getKeys(records: readonly { readonly key: string }[]): readonly string[] {
  return records.map(({ key }) => key);
}

/** The store may hold sessions of other owners. */
function createOwner(): string {
  return JSON.stringify(createKey());
}
