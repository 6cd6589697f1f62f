/**
 * The port of a session store. A store keeps records under the hash of a session's id and never sees the id itself. `MemorySessionStore`
 * keeps them in this process; other stores share them between processes. `obeysSessionStore` checks every promise below.
 *
 * The framework sets and deletes single values. A store applies them to the record in one step, so two requests of one session do not
 * overwrite each other's values: if both wrote the same value, the later write stays. A deletion is a write like any other, and a request
 * that reads a number, adds to it and writes it back may lose the number of the other request.
 *
 * A method may return a value or a promise. A store fails by throwing or rejecting, and never reports a failure as a missing record.
 */
import type { Subsystem } from "../../../lifecycle/subsystem.js";

export type Awaitable<T> = T | Promise<T>;

/** A value of a session: its name and its JSON. */
export type SessionValues = ReadonlyMap<string, string>;

export interface StoredSession {
  /** The key that the record was written under. The session refuses a record with another key: the store has mixed up two visitors. */
  readonly key: string;
  readonly values: SessionValues;
  /** When the lifetime was last extended, in milliseconds since the Unix epoch. */
  readonly renewedAt: number;
}

/** The times of one operation. All are in milliseconds; instants count from the Unix epoch, by the clock of the application. */
export interface SessionTimes {
  readonly now: number;
  /** When the request started. */
  readonly startedAt: number;
  /** A record without use expires after this time. */
  readonly idleMs: number;
  /** A record expires after this time, counted from its creation. */
  readonly absoluteMs: number;
  /**
   * Whether `update` may extend the lifetime. A record that `create` writes with `false` counts as renewed `RENEW_AFTER_MS` ago, so the
   * next update with `true` extends it. `move` always extends the lifetime.
   */
  readonly renew: boolean;
}

/**
 * The name of the value that says whose session it is. `Session.setOwner` writes it as the JSON of a text. It is a value like any other, so
 * it moves and ends with the record.
 */
export const OWNER_NAME = "_owner";

/** The most records that `listOfOwner` returns. */
export const MAX_LISTED_SESSIONS = 1000;

/** The changes of one request to the values of a session. No name is in both. */
export interface SessionChanges {
  readonly set: SessionValues;
  readonly deleted: readonly string[];
}

/** For an update that only renews the record. */
export const NO_CHANGES: SessionChanges = Object.freeze({ set: new Map<string, string>(), deleted: Object.freeze([]) });

/** `update` extends a lifetime when this time has passed since it was extended last: one minute. */
export const RENEW_AFTER_MS = 60_000;

/**
 * A session that holds nothing but the flash lasts this time: ten minutes. The first value of the application gives it the whole lifetime.
 */
export const FLASH_ONLY_MS = 600_000;

/**
 * How long a store remembers that a session ended: ten minutes. No request that started before the end is still running after this time.
 */
export const REMEMBER_ENDED_MS = 600_000;

/** The record has the changes. */
export interface UpdatedSession {
  /** Whether the lifetime was extended. Of requests at the same time exactly one extends it. */
  readonly isRenewed: boolean;
  /** The earlier end of both lifetimes. */
  readonly expiresAt: number;
  /** The number of values in the record now. */
  readonly size: number;
}

/**
 * The result of a change.
 * - `"ended"`: the session ended while the request was running, by a sign-out or a new id. The change is lost, as it must be.
 * - `"unknown"`: there was no such session when the request started.
 */
export type SessionUpdate = UpdatedSession | "ended" | "unknown";

export abstract class SessionStore {
  /** The subsystems that the store needs. `run()` starts them, also if no module provides them. */
  get subsystems(): readonly Subsystem[] {
    return [];
  }

  /** The record; `undefined` if there is none, or it has expired. A load changes nothing. */
  abstract load(key: string, now: number): Awaitable<StoredSession | undefined>;

  /** Creates a record. False if the key is in use, or belonged to a session that ended; then nothing has changed. */
  abstract create(key: string, values: SessionValues, times: SessionTimes): Awaitable<boolean>;

  /**
   * Changes a record that exists, and never creates one. A save after a sign-out must not restore the session. An expired record does not
   * exist.
   */
  abstract update(key: string, changes: SessionChanges, times: SessionTimes): Awaitable<SessionUpdate>;

  /**
   * Moves a record to a new key in one step, with the changes applied; the old session has ended then. The lifetime from creation
   * continues. `"taken"`: the new key is in use, and nothing has changed.
   */
  abstract move(
    from: string,
    to: string,
    changes: SessionChanges,
    times: SessionTimes,
  ): Awaitable<SessionUpdate | "taken">;

  /** Deletes a record and remembers for `REMEMBER_ENDED_MS` that the session ended now. */
  abstract end(key: string, now: number): Awaitable<void>;

  /**
   * The records of an owner, those that were renewed last first, and at most `MAX_LISTED_SESSIONS`. A record that another request moves is
   * in the list under one of its keys. Expired and ended records are missing.
   *
   * @param owner the value `OWNER_NAME` of the records, compared exactly
   */
  abstract listOfOwner(owner: string, now: number): Awaitable<readonly StoredSession[]>;

  /** Deletes the expired records, and returns their number. A store whose records expire by themselves returns 0. */
  abstract sweepExpired(now?: number): Awaitable<number>;
}
