/**
 * Sessions in the memory of this process: the store of development and of tests, and of an application that is one process and may lose its
 * sessions at a restart. It works without promises.
 *
 * Its size is bounded. Above `maxSessions` or `maxBytes` it removes first sessions that hold nothing but the flash, and then the session
 * that was renewed longest ago. It also remembers up to `maxSessions` sessions that ended.
 *
 * @example
 * builder.session(new SessionConfig(key), new MemorySessionStore({ maxSessions: 20_000 }));
 */
import { checkWholeNumber } from "../../../errors/whole-number.js";
import type { PerProcess, ProcessState } from "../../../lifecycle/process-state.js";
import {
  FLASH_ONLY_MS,
  MAX_LISTED_SESSIONS,
  OWNER_NAME,
  REMEMBER_ENDED_MS,
  RENEW_AFTER_MS,
  SessionStore,
  type SessionChanges,
  type SessionTimes,
  type SessionUpdate,
  type SessionValues,
  type StoredSession,
} from "./session-store.js";

export interface MemorySessionStoreOptions {
  /** The default is 100 000. */
  readonly maxSessions?: number;
  /**
   * The most bytes of names and values together, counted as 2 for each UTF-16 code unit and 256 for each session; the default is 268 435
   * 456 (256 MiB).
   */
  readonly maxBytes?: number;
}

const IN_MEMORY: ProcessState = {
  what: "sessions are in memory",
  fix: "use RedisSessionStore or DatabaseSessionStore",
};

const DEFAULT_MAX_SESSIONS = 100_000;
const DEFAULT_MAX_BYTES = 268_435_456;
/** The approximate bytes of a session beside its values. */
const SESSION_BYTES = 256;
/** Entries with at most this lifetime are removed first when room is needed: they hold nothing but the flash. */
const BRIEF_MS = FLASH_ONLY_MS + RENEW_AFTER_MS;

interface MemorySession extends StoredSession {
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly bytes: number;
}

export class MemorySessionStore extends SessionStore implements PerProcess {
  readonly perProcess: ProcessState | undefined = IN_MEMORY;
  /**
   * The entry that was renewed longest ago is the first. An entry is replaced, never changed, so a reader keeps the version that it has
   * read.
   */
  private readonly entries = new Map<string, MemorySession>();
  /** The keys of brief entries, the earliest first. */
  private readonly brief = new Set<string>();
  /** When the sessions ended, the earliest first. */
  private readonly endings = new Map<string, number>();
  private readonly maxSessions: number;
  private readonly maxBytes: number;
  private bytes = 0;

  /** @throws FrameworkError `E_SESSION_STORE` for a limit that is not a whole number above 0 */
  constructor(options: MemorySessionStoreOptions = {}) {
    super();
    this.maxSessions = checkWholeNumber(
      "E_SESSION_STORE",
      "maxSessions",
      options.maxSessions ?? DEFAULT_MAX_SESSIONS,
      [1],
    );
    this.maxBytes = checkWholeNumber("E_SESSION_STORE", "maxBytes", options.maxBytes ?? DEFAULT_MAX_BYTES, [1]);
  }

  /** The number of records, expired ones included until they are removed. */
  get size(): number {
    return this.entries.size;
  }

  override load(key: string, now: number): StoredSession | undefined {
    const entry = this.entries.get(key);
    return entry === undefined || entry.expiresAt <= now ? undefined : entry;
  }

  override create(key: string, values: SessionValues, times: SessionTimes): boolean {
    const { now } = times;
    if (this.entries.has(key) || this.endings.has(key)) return false;
    this.makeRoom(now);
    this.store(createEntry(key, new Map(values), now, times));
    return true;
  }

  override update(key: string, changes: SessionChanges, times: SessionTimes): SessionUpdate {
    const entry = this.findLive(key, times.now);
    return entry === undefined ? this.getMissingReason(key, times) : this.replace(key, entry, changes, times);
  }

  override move(from: string, to: string, changes: SessionChanges, times: SessionTimes): SessionUpdate | "taken" {
    if (this.entries.has(to) || this.endings.has(to)) return "taken";
    const entry = this.findLive(from, times.now);
    if (entry === undefined) return this.getMissingReason(from, times);
    this.end(from, times.now);
    // The new id needs a new cookie with the full time.
    const due = { ...entry, key: to, renewedAt: Number.NEGATIVE_INFINITY };
    return this.replace(to, due, changes, { ...times, renew: true });
  }

  override end(key: string, now: number): void {
    this.drop(key);
    this.forgetEndings(now);
    this.endings.delete(key);
    this.endings.set(key, now);
    // A client that signs in and out all the time must not fill the memory with the ids that it had.
    if (this.endings.size > this.maxSessions) this.forgetEarliestEnding();
  }

  /** Reads all entries: sessions without an owner cost nothing then. */
  override listOfOwner(owner: string, now: number): readonly StoredSession[] {
    const found: MemorySession[] = [];
    for (const entry of this.entries.values())
      if (entry.values.get(OWNER_NAME) === owner && entry.expiresAt > now) found.push(entry);
    return found.toSorted((one, other) => other.renewedAt - one.renewedAt).slice(0, MAX_LISTED_SESSIONS);
  }

  override sweepExpired(now = Date.now()): number {
    const before = this.entries.size;
    for (const [key, { expiresAt }] of this.entries) if (expiresAt <= now) this.drop(key);
    this.forgetEndings(now);
    return before - this.entries.size;
  }

  private findLive(key: string, now: number): MemorySession | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.expiresAt > now) return entry;
    this.drop(key);
    return undefined;
  }

  private getMissingReason(key: string, { startedAt }: SessionTimes): "ended" | "unknown" {
    return (this.endings.get(key) ?? Number.NEGATIVE_INFINITY) >= startedAt ? "ended" : "unknown";
  }

  private replace(key: string, entry: MemorySession, changes: SessionChanges, times: SessionTimes): SessionUpdate {
    const isRenewed = times.renew && times.now - entry.renewedAt >= RENEW_AFTER_MS;
    const values = mergeChanges(entry.values, changes);
    // A renewed entry goes to the end of the map.
    if (isRenewed) this.drop(key);
    const next = isRenewed
      ? createEntry(key, values, entry.createdAt, times)
      : { ...entry, values, bytes: countBytes(values) };
    this.store(next);
    return { isRenewed, expiresAt: next.expiresAt, size: values.size };
  }

  private store(entry: MemorySession): void {
    this.bytes += entry.bytes - (this.entries.get(entry.key)?.bytes ?? 0);
    this.entries.set(entry.key, entry);
    if (entry.expiresAt - entry.renewedAt <= BRIEF_MS) this.brief.add(entry.key);
    if (this.bytes > this.maxBytes) this.dropOldest(entry);
  }

  private drop(key: string): void {
    this.bytes -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
    this.brief.delete(key);
  }

  /** The entry that was just written stays, however large it is. */
  private dropOldest(written: MemorySession): void {
    for (const keys of [this.brief, this.entries])
      for (const key of keys.keys()) {
        if (key !== written.key) this.drop(key);
        if (this.bytes <= this.maxBytes) return;
      }
  }

  /** Each new entry checks two old ones of each kind, so that expired entries cannot fill the map. */
  private makeRoom(now: number): void {
    for (const keys of [this.brief, this.entries]) {
      let liveCount = 0;
      for (const key of keys.keys()) {
        const isExpired = (this.entries.get(key)?.expiresAt ?? 0) <= now;
        if (isExpired || this.entries.size >= this.maxSessions) this.drop(key);
        if (!isExpired && ++liveCount === 2) break;
      }
    }
  }

  private forgetEarliestEnding(): void {
    const [earliest] = this.endings.keys();
    if (earliest !== undefined) this.endings.delete(earliest);
  }

  private forgetEndings(now: number): void {
    for (const [key, endedAt] of this.endings) {
      if (now - endedAt < REMEMBER_ENDED_MS) break;
      this.endings.delete(key);
    }
  }
}

function createEntry(key: string, values: SessionValues, createdAt: number, times: SessionTimes): MemorySession {
  const { now, idleMs, absoluteMs, renew } = times;
  const expiresAt = Math.min(now + idleMs, createdAt + absoluteMs);
  const renewedAt = renew ? now : now - RENEW_AFTER_MS;
  return { key, values, createdAt, renewedAt, expiresAt, bytes: countBytes(values) };
}

function countBytes(values: SessionValues): number {
  let length = 0;
  for (const [name, text] of values) length += name.length + text.length;
  return SESSION_BYTES + 2 * length;
}

function mergeChanges(values: SessionValues, { set, deleted }: SessionChanges): SessionValues {
  if (set.size === 0 && deleted.length === 0) return values;
  const next = new Map(values);
  for (const name of deleted) next.delete(name);
  for (const [name, text] of set) next.set(name, text);
  return next;
}
