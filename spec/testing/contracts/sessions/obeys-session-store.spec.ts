import {
  MemorySessionStore,
  OWNER_NAME,
  type SessionChanges,
  type SessionTimes,
  type SessionUpdate,
  type SessionValues,
  type StoredSession,
} from "@stagecraft/framework/session";
import { obeysSessionStore } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { rejectionOf } from "../../../support/rejection-of.js";

/** Each store breaks one promise; the text is a part of the fault. */
const BROKEN: readonly (readonly [string, MemorySessionStore, string])[] = [
  [
    "creates by an update",
    new (class extends MemorySessionStore {
      override update(key: string, changes: SessionChanges, times: SessionTimes): SessionUpdate {
        super.create(key, new Map(), times);
        return super.update(key, changes, times);
      }
    })(),
    "never created is missing: update is",
  ],
  [
    "replaces the whole record",
    new (class extends MemorySessionStore {
      override update(key: string, changes: SessionChanges, times: SessionTimes): SessionUpdate {
        const names = [...(super.load(key, times.now)?.values.keys() ?? [])];
        return super.update(key, { set: changes.set, deleted: names.filter((name) => !changes.set.has(name)) }, times);
      }
    })(),
    "keep the values of each other: the number of values is",
  ],
  [
    "forgets that a session ended",
    new (class extends MemorySessionStore {
      override end(key: string): void {
        super.end(key, Number.NEGATIVE_INFINITY);
      }
    })(),
    "stays ended: an update of before is",
  ],
  [
    "renews with every update",
    new (class extends MemorySessionStore {
      override update(key: string, changes: SessionChanges, times: SessionTimes): SessionUpdate {
        return super.update(key, changes, { ...times, renew: true });
      }
    })(),
    "may not renew keeps the lifetime: the update without renewal is",
  ],
  [
    "counts every creation as a renewal",
    new (class extends MemorySessionStore {
      override create(key: string, values: SessionValues, times: SessionTimes): boolean {
        return super.create(key, values, { ...times, renew: true });
      }
    })(),
    "extended by the first update that renews: the update with it is",
  ],
  [
    "has no lifetime",
    new (class extends MemorySessionStore {
      override load(key: string): StoredSession | undefined {
        return super.load(key, 0);
      }
    })(),
    "ends when it is not used: the record is",
  ],
  [
    "overwrites a key",
    new (class extends MemorySessionStore {
      override create(key: string, values: SessionValues, times: SessionTimes): boolean {
        if (!super.create(key, values, times)) super.update(key, { set: values, deleted: [] }, times);
        return true;
      }
    })(),
    "a key is created once: the second create is true",
  ],
  [
    "returns another record",
    new (class extends MemorySessionStore {
      override load(key: string, now: number): StoredSession | undefined {
        const found = super.load(key, now);
        return found === undefined ? undefined : { ...found, key: "another" };
      }
    })(),
    "the key of the record is",
  ],
  [
    "compares owners without case",
    new (class extends MemorySessionStore {
      override listOfOwner(owner: string, now: number): readonly StoredSession[] {
        return [owner, owner.replace("Ada", "ada")].flatMap((each) => super.listOfOwner(each, now));
      }
    })(),
    "owners are compared exactly: the sessions of",
  ],
  [
    "lists sessions that have expired",
    new (class extends MemorySessionStore {
      override listOfOwner(owner: string): readonly StoredSession[] {
        return super.listOfOwner(owner, 0);
      }
    })(),
    "the sessions after it has expired is",
  ],
  [
    "loses the owner with a move",
    new (class extends MemorySessionStore {
      override move(from: string, to: string, changes: SessionChanges, times: SessionTimes): SessionUpdate | "taken" {
        return super.move(from, to, { ...changes, deleted: [...changes.deleted, OWNER_NAME] }, times);
      }
    })(),
    "sets it and removes it: the sessions after a move is",
  ],
  [
    "lists a session that moves under both keys",
    new (class extends MemorySessionStore {
      override move(from: string, to: string, changes: SessionChanges, times: SessionTimes): SessionUpdate | "taken" {
        const values = super.load(from, times.now)?.values ?? new Map<string, string>();
        super.create(`${from}-copy`, values, times);
        return super.move(from, to, changes, times);
      }
    })(),
    "is in every list once: the numbers of sessions is",
  ],
];

describe("obeysSessionStore", () => {
  it("accepts the store in memory", () => obeysSessionStore(new MemorySessionStore()));

  for (const [title, store, fault] of BROKEN) {
    it(`finds a store that ${title}`, async () => {
      const error = await rejectionOf(obeysSessionStore(store));

      expect(String(error)).to.include(fault);
    });
  }
});
