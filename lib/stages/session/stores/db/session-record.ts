/**
 * A session as a row of the table `framework_sessions`. The row of a session that ended has `ended_at` and no values; it stays for
 * `REMEMBER_ENDED_MS`. All times are milliseconds since the Unix epoch.
 *
 * An error about a row never repeats what the row holds.
 */
import { hash } from "node:crypto";
import { FrameworkError } from "../../../../errors/framework-error.js";
import {
  OWNER_NAME,
  REMEMBER_ENDED_MS,
  RENEW_AFTER_MS,
  type SessionTimes,
  type SessionValues,
  type StoredSession,
} from "../session-store.js";

/** An integer of 64 bits, in the types that drivers give it by their options. */
type DatabaseInteger = number | bigint | string;

export interface SessionRow {
  readonly id: string;
  /** JSON: a list of pairs of name and value. Some drivers parse it. */
  readonly data: unknown;
  readonly version: DatabaseInteger;
  readonly created_at: DatabaseInteger;
  readonly renewed_at: DatabaseInteger;
  readonly expires_at: DatabaseInteger;
  readonly ended_at: DatabaseInteger | null;
  /** The hash of the owner. `null` also in rows of versions without owners; their next change writes it. */
  readonly owner: string | null;
}

export interface SessionRecord extends StoredSession {
  /** Each change adds one, so that a change by another request in between is noticed. */
  readonly version: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly endedAt: number | undefined;
}

const KEY_BYTES = 32;

/** The id of the row: the hash in hexadecimal digits. @throws TypeError for a key that is not a SHA-256 in base64url */
export function toRowId(key: string): string {
  const bytes = Buffer.from(key, "base64url");
  if (bytes.length !== KEY_BYTES || bytes.toString("base64url") !== key)
    throw new TypeError("the key of a session is the SHA-256 of its id in base64url");
  return bytes.toString("hex");
}

/** A hash, so that every collation compares owners exactly. */
export function toRowOwner(owner: string): string {
  return hash("sha256", owner, "hex");
}

export function toRow(record: SessionRecord): SessionRow {
  const owner = record.values.get(OWNER_NAME);
  return {
    id: toRowId(record.key),
    data: serializeValues(record.values),
    version: record.version,
    created_at: record.createdAt,
    renewed_at: record.renewedAt,
    expires_at: record.expiresAt,
    ended_at: record.endedAt ?? null,
    owner: owner === undefined ? null : toRowOwner(owner),
  };
}

/** @throws FrameworkError `E_SESSION_ROW` */
export function toRecord(row: SessionRow): SessionRecord {
  return {
    key: Buffer.from(row.id, "hex").toString("base64url"),
    values: parseValues(row.data),
    version: parseWholeNumber(row.version),
    createdAt: parseWholeNumber(row.created_at),
    renewedAt: parseWholeNumber(row.renewed_at),
    expiresAt: parseWholeNumber(row.expires_at),
    endedAt: row.ended_at === null ? undefined : parseWholeNumber(row.ended_at),
  };
}

export function createRecord(
  key: string,
  values: SessionValues,
  times: SessionTimes,
  createdAt = times.now,
): SessionRecord {
  const { now, idleMs, absoluteMs, renew } = times;
  const expiresAt = Math.min(now + idleMs, createdAt + absoluteMs, Number.MAX_SAFE_INTEGER);
  const renewedAt = renew ? now : now - RENEW_AFTER_MS;
  return { key, values, version: 1, createdAt, renewedAt, expiresAt, endedAt: undefined };
}

export function createEndedRecord(key: string, now: number): SessionRecord {
  const expiresAt = now + REMEMBER_ENDED_MS;
  return { key, values: new Map(), version: 1, createdAt: now, renewedAt: now, expiresAt, endedAt: now };
}

/** ASCII alone: a database may have a character set without the letters of a visitor. */
function serializeValues(values: SessionValues): string {
  return JSON.stringify([...values]).replaceAll(
    /[\u0080-\uFFFF]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function parseValues(data: unknown): SessionValues {
  const pairs = typeof data === "string" ? parseJson(data) : data;
  if (!Array.isArray(pairs) || !pairs.every(isPair)) throw unreadable("data");
  return new Map(pairs);
}

/** The message of `JSON.parse` quotes the text, which is the visitor's. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isPair(value: unknown): value is readonly [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === "string");
}

function parseWholeNumber(value: DatabaseInteger): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw unreadable("a time or the version");
  return number;
}

function unreadable(what: string): FrameworkError {
  return new FrameworkError(`${what} of a row of framework_sessions is not what the session store has written`, {
    code: "E_SESSION_ROW",
  });
}
