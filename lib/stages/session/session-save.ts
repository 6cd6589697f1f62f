/**
 * The end of a request's session: what the request did becomes one operation of the store, and one line of `Set-Cookie` if the browser has
 * to learn something. A record is created by `create` alone, so a late save never brings back a session that has ended.
 */
import type { Context } from "../../http/request/context.js";
import { tracing } from "../../tracing/tracing.js";
import { isFlashField, surplusMessages } from "./flash-fields.js";
import { storeKey, type SaveResult, type Session } from "./session.js";
import {
  FLASH_ALONE_MS,
  NO_CHANGES,
  RENEW_AFTER_MS,
  type KeptSession,
  type SessionChanges,
  type SessionTimes,
  type SessionUpdate,
  type SessionValues,
} from "./stores/session-store.js";

const log = tracing.target("framework::session");

/** @internal */
export const NOTHING_SAVED: SaveResult = { kind: "nothing" };

/** An id of 128 random bits is never in use, unless the random source is broken. */
const MOST_IDS = 8;

/** A client that reads no page must not fill its record with messages for the next one. */
const MOST_VALUES = 256;
const MOST_MESSAGES = 50;

/** @param mayRenew false for an answer that shared caches may keep. Rejects, or throws, if the store fails. */
export async function saveSession(ctx: Context, session: Session, mayRenew: boolean): Promise<SaveResult> {
  const { cookieId, fate } = session;
  if (fate === "ends") return endSession(ctx, session, cookieId);
  if (cookieId === undefined) return createSession(ctx, session);
  if (fate === "moves") return moveSession(ctx, session, cookieId);
  const changes = changesOf(session);
  if (changes === NO_CHANGES && !(mayRenew && isDue(ctx, session))) return NOTHING_SAVED;
  return updateSession(ctx, session, cookieId, changes);
}

/** Whether there is anything to save or to renew: there is none for most requests, also for those that read their session. */
export function hasWork(ctx: Context, session: Session): boolean {
  return session.changes !== undefined || session.fate !== "stays" || isDue(ctx, session);
}

function isDue({ clock }: Context, session: Session): boolean {
  const { record } = session;
  if (record === undefined || record === null || clock.now() - record.renewedAt < RENEW_AFTER_MS) return false;
  return !hasFlashAlone(session.valuesWith(record));
}

/** Every client can begin such sessions by sending forms, so they must not stay. */
function hasFlashAlone(values: SessionValues): boolean {
  return [...values.keys()].every(isFlashField);
}

async function endSession(ctx: Context, session: Session, cookieId: string | undefined): Promise<SaveResult> {
  if (cookieId !== undefined) await session.ask((store, now) => store.end(storeKey(cookieId), now));
  const begun = await createSession(ctx, session);
  return begun === NOTHING_SAVED && cookieId !== undefined ? { kind: "deletion" } : begun;
}

async function createSession(ctx: Context, session: Session): Promise<SaveResult> {
  const { set } = changesOf(session);
  if (set.size === 0) return NOTHING_SAVED;
  const maxAgeMs = firstAge(session, set);
  for (let tries = 0; tries < MOST_IDS; tries++) {
    const id = session.newId;
    const isCreated = await session.ask((store) =>
      store.create(storeKey(id), set, firstTimes(timesOf(ctx, session), maxAgeMs)),
    );
    if (session.failing(() => checkedCreation(isCreated))) return { kind: "cookie", id, isNew: true, maxAgeMs };
    session.dropNewId();
  }
  return failForLackOfIds(session);
}

function failForLackOfIds(session: Session): never {
  return session.failing(() => {
    throw new Error(`${MOST_IDS} random ids were in use`);
  });
}

async function moveSession(ctx: Context, session: Session, from: string): Promise<SaveResult> {
  const changes = changesOf(session);
  for (let tries = 0; tries < MOST_IDS; tries++) {
    const id = session.newId;
    const answer = await session.ask((store) =>
      store.move(storeKey(from), storeKey(id), changes, timesOf(ctx, session)),
    );
    const moved = answer === "taken" ? answer : session.failing(() => checkedUpdate(answer));
    // A sign-in counts also if another request has ended the session before: what was put now begins a new one.
    if (moved === "ended" || moved === "unknown") return createSession(ctx, session);
    if (moved !== "taken") return cookieOf(ctx, id, true, moved);
    session.dropNewId();
  }
  // Without the new id the old one would go on, which an attacker may know.
  return failForLackOfIds(session);
}

async function updateSession(ctx: Context, session: Session, id: string, changes: SessionChanges): Promise<SaveResult> {
  // If the request adds nothing but flash, the values of the session decide whether it may be renewed.
  if (changes.set.size > 0 && hasFlashAlone(changes.set)) await session.load();
  const answer = await session.ask((store) => store.update(storeKey(id), changes, updateTimes(ctx, session)));
  const kept = session.failing(() => checkedUpdate(answer));
  if (kept === "unknown" || isOver(ctx, kept)) return createSession(ctx, session);
  if (kept === "ended") {
    if (changes !== NO_CHANGES) log.debug("session ended while the request was running: its changes are dropped");
    return NOTHING_SAVED;
  }
  if (changes.set.size > 0 && kept.size > MOST_VALUES) await trimMessages(ctx, session, id);
  return kept.isRenewed ? cookieOf(ctx, id, false, kept) : NOTHING_SAVED;
}

/** The time of the record ended while the request was running: a store that was told an earlier moment did not see it. */
function isOver({ clock }: Context, kept: KeptSession | "ended"): boolean {
  return kept !== "ended" && kept.expiresAt <= clock.now();
}

async function trimMessages(ctx: Context, session: Session, id: string): Promise<void> {
  const record = await session.ask((store, now) => store.load(storeKey(id), now));
  const deleted = record === undefined ? [] : session.failing(() => surplusOf(record.values));
  if (deleted.length === 0) return;
  await session.ask((store) => store.update(storeKey(id), { set: NO_CHANGES.set, deleted }, updateTimes(ctx, session)));
}

/** The names of the messages to drop. */
function surplusOf(values: SessionValues): readonly string[] {
  const names = surplusMessages(values, MOST_MESSAGES);
  if (names.length > 0) log.warn("flash messages dropped: no page has taken them", { count: names.length });
  return names;
}

/** A store may return anything: a browser must not get a cookie for a record that may not exist. */
function checkedUpdate(answer: SessionUpdate): SessionUpdate {
  if (answer === "ended" || answer === "unknown") return answer;
  const { expiresAt, size } = (answer ?? {}) as Partial<KeptSession>;
  if (Number.isFinite(expiresAt) && Number.isFinite(size)) return answer;
  throw new TypeError("the session store returned a result that it cannot return");
}

function checkedCreation(answer: boolean): boolean {
  if (typeof answer === "boolean") return answer;
  throw new TypeError("the session store returned a result that it cannot return");
}

function cookieOf(ctx: Context, id: string, isNew: boolean, { expiresAt }: KeptSession): SaveResult {
  return { kind: "cookie", id, isNew, maxAgeMs: expiresAt - ctx.clock.now() };
}

function firstAge({ settings: { idleMs, absoluteMs } }: Session, values: SessionValues): number {
  const age = Math.min(idleMs, absoluteMs);
  return hasFlashAlone(values) ? Math.min(age, FLASH_ALONE_MS) : age;
}

/** A session that begins with a shorter time counts as renewed a minute ago, so its first other value extends it to the whole lifetime. */
function firstTimes(times: SessionTimes, ageMs: number): SessionTimes {
  if (ageMs === Math.min(times.idleMs, times.absoluteMs)) return times;
  return { ...times, now: times.now - RENEW_AFTER_MS, idleMs: ageMs + RENEW_AFTER_MS };
}

/**
 * A store renews a record a minute after its last renewal. A session that holds nothing but the flash must not be renewed, so the store gets
 * a moment before the end of that minute.
 */
function updateTimes(ctx: Context, session: Session): SessionTimes {
  const times = timesOf(ctx, session);
  const { record } = session;
  if (record === undefined || record === null || !hasFlashAlone(session.valuesWith(record))) return times;
  return { ...times, now: Math.min(times.now, record.renewedAt + RENEW_AFTER_MS - 1) };
}

function timesOf({ clock }: Context, { startedAt, settings: { idleMs, absoluteMs } }: Session): SessionTimes {
  return { now: clock.now(), startedAt, idleMs, absoluteMs };
}

function changesOf({ changes }: Session): SessionChanges {
  if (changes === undefined) return NO_CHANGES;
  const set = new Map<string, string>();
  const deleted: string[] = [];
  for (const [name, text] of changes) {
    if (text === undefined) deleted.push(name);
    else set.set(name, text);
  }
  if (set.size > MOST_VALUES) for (const name of surplusOf(set)) set.delete(name);
  return { set, deleted };
}
