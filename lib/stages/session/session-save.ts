/**
 * Saves the session of a request: its changes become one operation of the store. The result decides the cookie of the response, which
 * `SessionCookie` writes. Only `create` creates a record, so a late save never restores a session that has ended.
 */
import type { Context } from "../../http/request/context.js";
import { tracing } from "../../tracing/tracing.js";
import { isFlashField, findSurplusMessages } from "./flash-fields.js";
import type { SaveResult } from "./session-cookie.js";
import { toStoreKey, type Session } from "./session.js";
import {
  FLASH_ONLY_MS,
  NO_CHANGES,
  RENEW_AFTER_MS,
  type UpdatedSession,
  type SessionChanges,
  type SessionTimes,
  type SessionValues,
} from "./stores/session-store.js";
import { checkCreation, checkUpdate } from "./stores/store-results.js";

const log = tracing.target("framework::session");

/** @internal */
export const NOTHING_SAVED: SaveResult = { kind: "nothing" };

/** The most ids that are tried. An id of 128 random bits is never in use, unless the random source is broken. */
const MAX_ID_TRIES = 8;

/** Limits the flash messages that no page has read. */
const MAX_VALUES = 256;
const MAX_MESSAGES = 50;

/** @param mayRenew false for a response that shared caches may keep. @throws UnavailableError if the store fails */
export async function saveSession(ctx: Context, session: Session, mayRenew: boolean): Promise<SaveResult> {
  const { cookieId, outcome } = session;
  if (outcome === "ends") return endSession(ctx, session, cookieId);
  if (cookieId === undefined) return createSession(ctx, session);
  if (outcome === "moves") return moveSession(ctx, session, cookieId);
  const changes = getChanges(session);
  if (changes === NO_CHANGES && !(mayRenew && isRenewalDue(ctx, session))) return NOTHING_SAVED;
  return updateSession(ctx, session, cookieId, changes);
}

/** Whether there is a change to save or a lifetime to renew. Most requests have neither, also if they read their session. */
export function hasWork(ctx: Context, session: Session): boolean {
  return session.changes !== undefined || session.outcome !== "stays" || isRenewalDue(ctx, session);
}

function isRenewalDue({ clock }: Context, session: Session): boolean {
  const { record } = session;
  if (record === undefined || record === null || clock.now() - record.renewedAt < RENEW_AFTER_MS) return false;
  return !hasOnlyFlash(session.valuesWith(record));
}

/** Every client can create such sessions by sending forms, so they are not renewed. */
function hasOnlyFlash(values: SessionValues): boolean {
  return [...values.keys()].every(isFlashField);
}

async function endSession(ctx: Context, session: Session, cookieId: string | undefined): Promise<SaveResult> {
  if (cookieId !== undefined) await session.callStore((store, now) => store.end(toStoreKey(cookieId), now));
  const created = await createSession(ctx, session);
  return created === NOTHING_SAVED && cookieId !== undefined ? { kind: "deletion" } : created;
}

async function createSession(ctx: Context, session: Session): Promise<SaveResult> {
  const { set } = getChanges(session);
  if (set.size === 0) return NOTHING_SAVED;
  const maxAgeMs = getFirstAge(session, set);
  const times = { idleMs: maxAgeMs, renew: !hasOnlyFlash(set) };
  for (let tries = 0; tries < MAX_ID_TRIES; tries++) {
    const id = session.newId;
    const isCreated = await session.callStore((store) =>
      store.create(toStoreKey(id), set, { ...getTimes(ctx, session), ...times }),
    );
    if (session.guardResult(() => checkCreation(isCreated))) return { kind: "cookie", id, isNew: true, maxAgeMs };
    session.dropNewId();
  }
  return failForLackOfIds(session);
}

function failForLackOfIds(session: Session): never {
  return session.guardResult(() => {
    throw new Error(`${MAX_ID_TRIES} random ids were in use`);
  });
}

async function moveSession(ctx: Context, session: Session, from: string): Promise<SaveResult> {
  const changes = getChanges(session);
  for (let tries = 0; tries < MAX_ID_TRIES; tries++) {
    const id = session.newId;
    const result = await session.callStore((store) =>
      store.move(toStoreKey(from), toStoreKey(id), changes, getTimes(ctx, session)),
    );
    const moved = result === "taken" ? result : session.guardResult(() => checkUpdate(result));
    // A sign-in counts also if another request has ended the session before: its values create a new session.
    if (moved === "ended" || moved === "unknown") return createSession(ctx, session);
    if (moved !== "taken") return createCookieResult(ctx, id, true, moved);
    session.dropNewId();
  }
  // Without the new id the old one, which an attacker may know, would stay valid.
  return failForLackOfIds(session);
}

async function updateSession(ctx: Context, session: Session, id: string, changes: SessionChanges): Promise<SaveResult> {
  // If the request adds nothing but flash, the values of the session decide whether it may be renewed.
  if (changes.set.size > 0 && hasOnlyFlash(changes.set)) await session.load();
  const result = await session.callStore((store) =>
    store.update(toStoreKey(id), changes, getUpdateTimes(ctx, session)),
  );
  const updated = session.guardResult(() => checkUpdate(result));
  if (updated === "unknown") return createSession(ctx, session);
  if (updated === "ended") {
    if (changes !== NO_CHANGES) log.debug("session ended while the request was running: its changes are dropped");
    return NOTHING_SAVED;
  }
  if (changes.set.size > 0 && updated.size > MAX_VALUES) await trimMessages(ctx, session, id);
  return updated.isRenewed ? createCookieResult(ctx, id, false, updated) : NOTHING_SAVED;
}

async function trimMessages(ctx: Context, session: Session, id: string): Promise<void> {
  const record = await session.callStore((store, now) => store.load(toStoreKey(id), now));
  const deleted = record === undefined ? [] : session.guardResult(() => findSurplus(record.values));
  if (deleted.length === 0) return;
  await session.callStore((store) =>
    store.update(toStoreKey(id), { set: NO_CHANGES.set, deleted }, getUpdateTimes(ctx, session)),
  );
}

/** The names of the messages to drop. */
function findSurplus(values: SessionValues): readonly string[] {
  const names = findSurplusMessages(values, MAX_MESSAGES);
  if (names.length > 0) log.warn("flash messages dropped: no page has taken them", { count: names.length });
  return names;
}

function createCookieResult(ctx: Context, id: string, isNew: boolean, { expiresAt }: UpdatedSession): SaveResult {
  return { kind: "cookie", id, isNew, maxAgeMs: expiresAt - ctx.clock.now() };
}

function getFirstAge({ settings: { idleMs, absoluteMs } }: Session, values: SessionValues): number {
  const age = Math.min(idleMs, absoluteMs);
  return hasOnlyFlash(values) ? Math.min(age, FLASH_ONLY_MS) : age;
}

/** A session that holds nothing but the flash is not renewed. */
function getUpdateTimes(ctx: Context, session: Session): SessionTimes {
  const { record } = session;
  const isOnlyFlash = record !== undefined && record !== null && hasOnlyFlash(session.valuesWith(record));
  return { ...getTimes(ctx, session), renew: !isOnlyFlash };
}

function getTimes({ clock }: Context, { startedAt, settings: { idleMs, absoluteMs } }: Session): SessionTimes {
  return { now: clock.now(), startedAt, idleMs, absoluteMs, renew: true };
}

function getChanges({ changes }: Session): SessionChanges {
  if (changes === undefined) return NO_CHANGES;
  const set = new Map<string, string>();
  const deleted: string[] = [];
  for (const [name, text] of changes) {
    if (text === undefined) deleted.push(name);
    else set.set(name, text);
  }
  if (set.size > MAX_VALUES) for (const name of findSurplus(set)) set.delete(name);
  return { set, deleted };
}
