/**
 * The means of the promises of a session store: a key, times, and reads that report what is wrong.
 *
 * Internal: `obeysSessionStore` gives it to each promise.
 */
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { SessionChanges, SessionStore, SessionTimes } from "../../../stages/session/stores/session-store.js";
import { describeValue } from "../../failure.js";

export const HOUR_MS = 3_600_000;
export const IDLE_MS = HOUR_MS;
export const ABSOLUTE_MS = 3 * HOUR_MS;
export const PARALLEL = 25;

export class SessionTrial {
  readonly key = createKey();

  constructor(
    readonly store: SessionStore,
    readonly start: number,
    private readonly report: (fault: string) => void,
  ) {}

  /** Another record of the same store. */
  createOther(): SessionTrial {
    return new SessionTrial(this.store, this.start, this.report);
  }

  /** @param since the start of the request; the default is `at` */
  timesAt(ms: number, since = ms): SessionTimes {
    return {
      now: this.start + ms,
      startedAt: this.start + since,
      idleMs: IDLE_MS,
      absoluteMs: ABSOLUTE_MS,
      renew: true,
    };
  }

  expect(what: string, actual: unknown, expected: unknown): void {
    if (!isDeepStrictEqual(actual, expected))
      this.report(`${what} is ${describeValue(actual)}, not ${describeValue(expected)}`);
  }

  create(values: Readonly<Record<string, string>> = { name: '"Ada"' }) {
    return this.store.create(this.key, new Map(Object.entries(values)), this.timesAt(0));
  }

  /** The values of a record; `undefined` without one. */
  async values(ms: number, key = this.key): Promise<Readonly<Record<string, string>> | undefined> {
    const record = await this.store.load(key, this.start + ms);
    if (record === undefined) return undefined;
    this.expect("the key of the record", record.key, key);
    return Object.fromEntries(record.values);
  }
}

export function createChange(name: string, text: string): SessionChanges {
  return { set: new Map([[name, text]]), deleted: [] };
}

/** Like the keys of the framework: the hash of an id. */
export function createKey(): string {
  return randomBytes(32).toString("base64url");
}
