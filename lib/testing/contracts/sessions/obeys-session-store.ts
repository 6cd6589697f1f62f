/**
 * The contract of a session store, for the test of a custom store. It runs on a store that works. The store may hold other records; the
 * trial uses new keys and passes the time as an argument, so it does not wait.
 *
 * @example
 * it("keeps sessions", () => obeysSessionStore(new MySessionStore(pool)));
 */
import {
  NO_CHANGES,
  REMEMBER_ENDED_MS,
  RENEW_AFTER_MS,
  type SessionStore,
} from "../../../stages/session/stores/session-store.js";
import { checkPromises, type ContractPromise } from "../contract.js";
import { OWNER_PROMISES } from "./session-owner-promises.js";
import { ABSOLUTE_MS, createChange, createKey, HOUR_MS, IDLE_MS, PARALLEL, SessionTrial } from "./session-trial.js";

/**
 * Each promise is tried after the times of those before it: a store may delete records that have expired by the latest time that it was
 * given.
 */
const TRIAL_MS = 24 * HOUR_MS;

/**
 * @throws AssertionError with every promise that the store breaks
 */
export async function obeysSessionStore(store: SessionStore): Promise<void> {
  const startedAt = Date.now();
  const verdict = `${store.constructor.name || "the store"} does not obey the contract of session stores`;
  await checkPromises(verdict, [...RULES, ...OWNER_PROMISES], (rule, { index, report }) =>
    rule(new SessionTrial(store, startedAt + index * TRIAL_MS, report)),
  );
}

const RULES: readonly ContractPromise<SessionTrial>[] = [
  [
    "a created record is loaded, with the values as they were",
    async (trial) => {
      const odd = { "": '""', ["__proto__"]: "1", "a.b": "[1]", "é\u2028'": '"\u0000é"', v: "null" };
      const values = Object.assign(Object.create(null), odd) as Record<string, string>;
      trial.expect("create", await trial.create(values), true);
      const record = await trial.store.load(trial.key, trial.start);
      trial.expect("the values", sortPairs(record?.values ?? []), sortPairs(Object.entries(values)));
      trial.expect("renewedAt", record?.renewedAt, trial.start);
    },
  ],
  [
    "a record that was never created is missing",
    async (trial) => {
      trial.expect("load", await trial.values(0), undefined);
      trial.expect("update", await trial.store.update(trial.key, createChange("a", "1"), trial.timesAt(0)), "unknown");
      trial.expect("move", await trial.store.move(trial.key, createKey(), NO_CHANGES, trial.timesAt(0)), "unknown");
      trial.expect("load after an update", await trial.values(0), undefined);
    },
  ],
  [
    "a key is created once",
    async (trial) => {
      await trial.create();
      trial.expect("the second create", await trial.create({ name: '"Eve"' }), false);
      trial.expect("the record", await trial.values(0), { name: '"Ada"' });
      const tries = await Promise.all(Array.from({ length: PARALLEL }, () => trial.createOther()).map(tryTwice));
      trial.expect("the creations of one key at the same time", [...new Set(tries)], [1]);
    },
  ],
  [
    "an update sets and deletes single values",
    async (trial) => {
      await trial.create({ a: "1", b: "2", c: "3" });
      const changes = { set: new Map([["b", "20"]]), deleted: ["c", "missing"] };
      const updated = await trial.store.update(trial.key, changes, trial.timesAt(1));
      trial.expect("the update", updated, { isRenewed: false, expiresAt: trial.start + IDLE_MS, size: 2 });
      trial.expect("the record", await trial.values(1), { a: "1", b: "20" });
    },
  ],
  [
    "updates at the same time keep the values of each other",
    async (trial) => {
      await trial.create({});
      const names = Array.from({ length: PARALLEL }, (_, at) => `n${at}`);
      await Promise.all(
        names.map(async (name) => trial.store.update(trial.key, createChange(name, "1"), trial.timesAt(1))),
      );
      trial.expect("the number of values", Object.keys((await trial.values(1)) ?? {}).length, PARALLEL);
    },
  ],
  [
    "a record that was read does not change",
    async (trial) => {
      await trial.create({ a: "1" });
      const record = await trial.store.load(trial.key, trial.start);
      await trial.store.update(trial.key, createChange("a", "2"), trial.timesAt(1));
      trial.expect("the value read before", record?.values.get("a"), "1");
    },
  ],
  [
    "of requests at the same time exactly one renews",
    async (trial) => {
      await trial.create();
      const early = await trial.store.update(trial.key, NO_CHANGES, trial.timesAt(RENEW_AFTER_MS - 1));
      trial.expect("the update within a minute", early, {
        isRenewed: false,
        expiresAt: trial.start + IDLE_MS,
        size: 1,
      });
      const renew = async () => trial.store.update(trial.key, NO_CHANGES, trial.timesAt(RENEW_AFTER_MS));
      const updates = await Promise.all(Array.from({ length: PARALLEL }, renew));
      const renewed = updates.filter((each) => typeof each === "object" && each.isRenewed);
      trial.expect("the renewals", renewed, [
        { isRenewed: true, expiresAt: trial.start + RENEW_AFTER_MS + IDLE_MS, size: 1 },
      ]);
    },
  ],
  [
    "an update that may not renew keeps the lifetime",
    async (trial) => {
      await trial.create();
      const times = trial.timesAt(RENEW_AFTER_MS);
      const early = await trial.store.update(trial.key, createChange("a", "1"), { ...times, renew: false });
      const expiresAt = trial.start + IDLE_MS;
      trial.expect("the update without renewal", early, { isRenewed: false, expiresAt, size: 2 });
      const renewed = await trial.store.update(trial.key, NO_CHANGES, times);
      trial.expect("the update after it", renewed, { isRenewed: true, expiresAt: expiresAt + RENEW_AFTER_MS, size: 2 });
    },
  ],
  [
    "a record that is created without renewal is extended by the first update that renews",
    async (trial) => {
      const brief = { ...trial.timesAt(0), idleMs: IDLE_MS / 2, renew: false };
      await trial.store.create(trial.key, new Map([["a", "1"]]), brief);
      const { key, start, store } = trial;
      const early = await store.update(key, createChange("b", "2"), { ...trial.timesAt(1), renew: false });
      trial.expect("the update without renewal", early, { isRenewed: false, expiresAt: start + IDLE_MS / 2, size: 2 });
      const renewed = await store.update(key, NO_CHANGES, trial.timesAt(2));
      trial.expect("the update with it", renewed, { isRenewed: true, expiresAt: start + 2 + IDLE_MS, size: 2 });
    },
  ],
  [
    "a record ends when it is not used",
    async (trial) => {
      await trial.create();
      trial.expect("the record just before", await trial.values(IDLE_MS - 1), { name: '"Ada"' });
      trial.expect("the record", await trial.values(IDLE_MS), undefined);
      trial.expect(
        "the update",
        await trial.store.update(trial.key, createChange("a", "1"), trial.timesAt(IDLE_MS)),
        "unknown",
      );
      trial.expect("the record after an update", await trial.values(IDLE_MS), undefined);
    },
  ],
  [
    "a record ends a time after its creation, also if it is renewed or moved",
    async (trial) => {
      await trial.create();
      for (let ms = HOUR_MS / 2; ms < 2.5 * HOUR_MS; ms += HOUR_MS / 2)
        await trial.store.update(trial.key, NO_CHANGES, trial.timesAt(ms));
      const moved = createKey();
      const result = await trial.store.move(trial.key, moved, NO_CHANGES, trial.timesAt(2.5 * HOUR_MS));
      trial.expect("the move", result, { isRenewed: true, expiresAt: trial.start + ABSOLUTE_MS, size: 1 });
      trial.expect("the record just before", await trial.values(ABSOLUTE_MS - 1, moved), { name: '"Ada"' });
      trial.expect("the record", await trial.values(ABSOLUTE_MS, moved), undefined);
    },
  ],
  [
    "a move changes the key and the values in one step",
    async (trial) => {
      await trial.create({ a: "1", b: "2" });
      const moved = createKey();
      await trial.store.move(trial.key, moved, { set: new Map([["user", "7"]]), deleted: ["a"] }, trial.timesAt(1));
      trial.expect("the record under the new key", await trial.values(1, moved), { b: "2", user: "7" });
      trial.expect("the record under the old key", await trial.values(1), undefined);
    },
  ],
  [
    "a move takes no key that is in use",
    async (trial) => {
      await trial.create();
      const other = trial.createOther();
      await other.create({ name: '"Eve"' });
      trial.expect("the move", await trial.store.move(trial.key, other.key, NO_CHANGES, trial.timesAt(1)), "taken");
      trial.expect("the record", await trial.values(1), { name: '"Ada"' });
      trial.expect("the other record", await trial.values(1, other.key), { name: '"Eve"' });
    },
  ],
  ["a session that ended stays ended", endsFor((trial) => trial.store.end(trial.key, trial.start + 10))],
  [
    "a session that has moved has ended under its old key",
    endsFor((trial) => trial.store.move(trial.key, createKey(), NO_CHANGES, trial.timesAt(10))),
  ],
  [
    "a session that ended is forgotten after a time",
    async (trial) => {
      await trial.create();
      await trial.store.end(trial.key, trial.start);
      await trial.store.end(createKey(), trial.start + REMEMBER_ENDED_MS);
      const late = trial.timesAt(REMEMBER_ENDED_MS, 1);
      trial.expect("the update", await trial.store.update(trial.key, createChange("a", "1"), late), "unknown");
    },
  ],
  [
    "a sweep deletes no record whose time is left",
    async (trial) => {
      await trial.create();
      const count = await trial.store.sweepExpired(trial.start + IDLE_MS - 1);
      trial.expect("the kind of the count", Number.isInteger(count) && count >= 0, true);
      trial.expect("the record", await trial.values(0), { name: '"Ada"' });
      await trial.store.sweepExpired(trial.start + IDLE_MS);
      trial.expect("the record after its time", await trial.values(IDLE_MS), undefined);
    },
  ],
];

/** A request that started before the end has no effect. A request that started after the end finds no session. */
function endsFor(end: (trial: SessionTrial) => unknown): (trial: SessionTrial) => Promise<void> {
  return async (trial) => {
    await trial.create();
    await end(trial);
    const { store, key } = trial;
    trial.expect("the record", await trial.values(11), undefined);
    trial.expect("an update of before", await store.update(key, createChange("a", "1"), trial.timesAt(12, 5)), "ended");
    trial.expect("a renewal of before", await store.update(key, NO_CHANGES, trial.timesAt(12, 10)), "ended");
    trial.expect("a move of before", await store.move(key, createKey(), NO_CHANGES, trial.timesAt(12, 5)), "ended");
    trial.expect(
      "an update of after",
      await store.update(key, createChange("a", "1"), trial.timesAt(12, 11)),
      "unknown",
    );
    trial.expect("a creation", await store.create(key, new Map(), trial.timesAt(12)), false);
    trial.expect("the record after all", await trial.values(13), undefined);
  };
}

/** The number of successful creations of two at the same time. */
async function tryTwice(trial: SessionTrial): Promise<number> {
  const created = await Promise.all([trial.create(), trial.create()]);
  return created.filter(Boolean).length;
}

function sortPairs(values: Iterable<readonly [string, string]>): readonly string[] {
  return [...values].map((pair) => JSON.stringify(pair)).toSorted();
}
