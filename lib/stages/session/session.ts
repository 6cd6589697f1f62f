/**
 * The session of a request: values that belong to one visitor and last from request to request. The browser holds a signed random id, the
 * store holds the values.
 *
 * Nothing is read before the first `get`, and nothing is created before the first `put`. A request that uses no session costs no access to
 * the store. Changes are saved after the handler has returned and before the head is sent. They are saved value by value, so two requests
 * of one visitor at the same time do not lose the changes of each other. If both write the same value, the later save stays. Reading a
 * value, changing it and putting it back is not one atomic step. After an unhandled error and after a timeout nothing is saved.
 *
 * @example
 * const CART = sessionKey<Cart>("cart");
 * const cart = (await Session.of(ctx).get(CART)) ?? emptyCart();
 * Session.of(ctx).put(CART, withItem(cart, item));
 *
 * // At every sign-in, and whenever the visitor may do more than before:
 * session.regenerate();
 * session.put("user", user.id);
 */
import { hash } from "node:crypto";
import { FrameworkError } from "../../errors/framework-error.js";
import type { Context } from "../../http/request/context.js";
import { Extension, type Extensible } from "../../http/request/extension.js";
import { toPromise, isPromise } from "../../http/middleware.js";
import { markHandled } from "../../runtime/mark-handled.js";
import { OVERDUE, within } from "../../runtime/clock.js";
import { readFlashValue } from "./flash-fields.js";
import { type SaveResult, SessionCookie } from "./session-cookie.js";
import type { SessionKeys } from "./session-keys.js";
import { checkName, SessionKey, serializeOwner, serializeValue, validateValue } from "./session-value.js";
import { OWNER_NAME, type Awaitable, type SessionStore, type StoredSession } from "./stores/session-store.js";
import { checkRecord, createOverdueError, createStoreFailure, STORE_LIMIT_MS } from "./stores/store-results.js";

/** What all requests of an application share. @internal */
export interface SessionSettings {
  readonly cookie: SessionCookie;
  readonly keys: SessionKeys;
  readonly store: SessionStore;
  readonly idleMs: number;
  readonly absoluteMs: number;
}

/** The effect of the request on the record: it stays, moves to a new id, or ends. @internal */
export type SessionOutcome = "stays" | "moves" | "ends";

/** Called once the session is saved, while headers can still be set. @internal */
export interface SavedListener {
  /** @param isPublic whether shared caches may keep the response */
  sessionSaved(result: SaveResult, isPublic: boolean): void;
}

export class Session {
  /** When the request came to the session stage. @internal */
  readonly startedAt: number;
  /** The values that were put, as JSON, and `undefined` for those that were forgotten. @internal */
  changes: Map<string, string | undefined> | undefined = undefined;
  /** @internal */
  outcome: SessionOutcome = "stays";
  /** The first failure of the store. It is sent in the place of the handler's response. @internal */
  failure: unknown = undefined;
  /** The CSRF stage, which binds its token to the id. @internal */
  saveListener: SavedListener | undefined = undefined;
  /** True once the changes are saved or discarded. @internal */
  isClosed = false;
  /** The record, once it is read; `null`: there is none. @internal */
  record: StoredSession | null | undefined = undefined;

  // Not `private`: printing the object would show the id, and the cookies of the request.
  readonly #ctx: Context;
  #receivedId: string | null | undefined = undefined;
  #nextId: string | undefined = undefined;
  #loading: Promise<StoredSession | null> | undefined = undefined;

  /** @internal */
  constructor(
    ctx: Context,
    /** @internal */
    readonly settings: SessionSettings,
  ) {
    this.#ctx = ctx;
    this.startedAt = ctx.clock.now();
  }

  /**
   * The session of the request.
   *
   * @throws FrameworkError `E_SESSION_MISSING` with status 500 without a session stage
   */
  static of(ctx: Extensible): Session {
    const session = SessionOfRequest.find(ctx);
    if (session !== undefined) return session;
    throw new FrameworkError("no session on this request: turn it on with .session(new SessionConfig(key))", {
      code: "E_SESSION_MISSING",
    });
  }

  /** The session of the request; `undefined` without a session stage. */
  static find(ctx: Extensible): Session | undefined {
    return SessionOfRequest.find(ctx);
  }

  /**
   * The value; `undefined` if there is none. Each call returns a new copy: to change it, `put` it again. The store is read at most once for
   * a request, and only if the request has a session.
   *
   * @throws UnavailableError (503) if the store fails. The response is then a 503, also if the handler catches the error.
   */
  get<T>(key: SessionKey<T>): Promise<T | undefined>;
  get(key: string): Promise<unknown>;
  get(key: string | SessionKey<unknown>): Promise<unknown> {
    try {
      const value = this.read(key);
      return isPromise(value) ? markHandled(value) : Promise.resolve(value);
    } catch (error) {
      // Only a failure of the store is thrown here.
      return markHandled(Promise.reject(error as Error));
    }
  }

  /** As `get`, and no promise where neither store nor schema has one: a guard reads the session of each request. @internal */
  read<T>(key: SessionKey<T>): Awaitable<T | undefined>;
  /** @internal */
  read(key: string | SessionKey<unknown>): unknown;
  /** @internal */
  read(key: string | SessionKey<unknown>): unknown {
    const name = typeof key === "string" ? key : key.name;
    const record = this.load();
    return isPromise(record)
      ? record.then((found) => this.readValue(found, name, key))
      : this.readValue(record, name, key);
  }

  /**
   * Sets a value, which may be anything that JSON keeps; the first value creates the session.
   *
   * @throws TypeError for a value that JSON loses or changes, and for more than 256 Ki characters of JSON; FrameworkError `E_SESSION_OVER`
   * once the response is being sent
   */
  put<T>(key: SessionKey<T>, value: T): void;
  put(key: string, value: unknown): void;
  put(key: string | SessionKey<unknown>, value: unknown): void {
    const name = getName(key);
    this.write(name, serializeValue(name, value));
  }

  /** Deletes a value. */
  forget(key: string | SessionKey<unknown>): void {
    this.write(getName(key), undefined);
  }

  /**
   * Gives the session a new id and keeps its values; the old id ends. Call it at every sign-in and whenever the visitor may do more than
   * before: an id that an attacker planted is useless then. The same response replaces the CSRF token.
   *
   * If two requests call it at the same time, the first keeps the values. The second creates a session with the values of that request
   * alone.
   */
  regenerate(): void {
    this.expectOpen();
    if (this.outcome === "stays") this.outcome = "moves";
  }

  /**
   * Ends the session: all values and the id are removed, and the cookie is deleted. Values that are put afterwards create a new session.
   */
  flush(): void {
    this.expectOpen();
    this.outcome = "ends";
    this.changes = undefined;
  }

  /**
   * Names the owner of the session, as a rule the id of the user who signs in; `undefined` for none. `Sessions` lists and ends the sessions
   * of an owner. A session keeps its owner under a new id, and loses it with all values.
   *
   * @throws TypeError for an id that is empty, is longer than 256 characters, or has a lone surrogate
   */
  setOwner(id: string | undefined): void {
    this.write(OWNER_NAME, id === undefined ? undefined : serializeOwner(id));
  }

  /** Whether the session belongs to the owner. The caller has read a value of the session before. @internal */
  hasOwner(id: string): boolean {
    return this.findText(this.record ?? null, OWNER_NAME) === serializeOwner(id);
  }

  /**
   * The key of the session that the request came with, as `Sessions` lists it; `undefined` without a valid cookie. It is the SHA-256 of the
   * id, and opens no session.
   */
  get key(): string | undefined {
    return this.cookieId === undefined ? undefined : toStoreKey(this.cookieId);
  }

  /** The id of a valid cookie. @internal */
  get cookieId(): string | undefined {
    if (this.#receivedId === undefined)
      this.#receivedId = this.settings.cookie.read(this.#ctx.incoming.headers.cookie) ?? null;
    return this.#receivedId ?? undefined;
  }

  /** The id of the session that this request creates. @internal */
  get newId(): string {
    return (this.#nextId ??= SessionCookie.createId());
  }

  /** The id that the session has after this request, if nothing further changes; `""` without a session. @internal */
  get idAfterSave(): string {
    const { cookieId, outcome } = this;
    if (cookieId !== undefined && outcome !== "ends") return outcome === "moves" ? this.newId : cookieId;
    const hasValues = [...(this.changes?.values() ?? [])].some((text) => text !== undefined);
    return hasValues ? this.newId : "";
  }

  /** Replaces an id that is in use. @internal */
  dropNewId(): void {
    this.#nextId = undefined;
  }

  /** @internal */
  write(name: string, text: string | undefined): void {
    this.expectOpen();
    (this.changes ??= new Map()).set(name, text);
  }

  /** The record, read once; `null`: there is none. @internal */
  load(): Awaitable<StoredSession | null> {
    if (this.record !== undefined) return this.record;
    if (this.#loading !== undefined) return this.#loading;
    const { key } = this;
    if (key === undefined) return (this.record = null);
    const found = this.callStore((store, now) => store.load(key, now));
    if (!isPromise(found)) return (this.record = this.guardResult(() => checkRecord(found, key)));
    this.#loading = markHandled(
      found.then((record) => (this.record = this.guardResult(() => checkRecord(record, key)))),
    );
    return this.#loading;
  }

  /** The values as the request sees them: those of the record with the changes of the request. @internal */
  valuesWith(record: StoredSession | null): ReadonlyMap<string, string> {
    const values = new Map(this.outcome === "ends" ? [] : record?.values);
    for (const [name, text] of this.changes ?? []) {
      if (text === undefined) values.delete(name);
      else values.set(name, text);
    }
    return values;
  }

  /** Calls the store. A failure, or a result that takes too long, becomes a 503 and is remembered. @internal */
  callStore<T>(call: (store: SessionStore, now: number) => Awaitable<T>): Awaitable<T> {
    const { clock } = this.#ctx;
    try {
      const reply = call(this.settings.store, clock.now());
      if (!isPromise(reply)) return reply;
      return within(clock, STORE_LIMIT_MS, toPromise(reply) as Promise<T>).then(
        (result) => (result === OVERDUE ? this.fail(createOverdueError()) : result),
        (error: unknown) => this.fail(error),
      );
    } catch (error) {
      return this.fail(error);
    }
  }

  /** Runs a check of a value that the store returned. An error of the check is a failure of the store. @internal */
  guardResult<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      return this.fail(error);
    }
  }

  private fail(cause: unknown): never {
    this.failure ??= createStoreFailure(cause);
    throw this.failure;
  }

  private readValue(record: StoredSession | null, name: string, key: string | SessionKey<unknown>): unknown {
    if (name.startsWith("_flash")) return readFlashValue(name, this.valuesWith(record));
    const text = this.findText(record, name);
    if (text === undefined) return undefined;
    return validateValue(
      this.guardResult(() => JSON.parse(text) as unknown),
      key,
    );
  }

  private findText(record: StoredSession | null, name: string): string | undefined {
    const { changes } = this;
    if (changes?.has(name) === true) return changes.get(name);
    return this.outcome === "ends" ? undefined : record?.values.get(name);
  }

  private expectOpen(): void {
    if (!this.isClosed) return;
    throw new FrameworkError("the session of this request is saved already: change it before the handler returns", {
      code: "E_SESSION_OVER",
    });
  }
}

/** @internal */
export const SessionOfRequest = new Extension<Session>("session");

/** The key of a record: a store, and a copy of it that is stolen, holds no id that a cookie could carry. @internal */
export function toStoreKey(id: string): string {
  return hash("sha256", id, "base64url");
}

function getName(key: string | SessionKey<unknown>): string {
  if (key instanceof SessionKey) return key.name;
  checkName(key);
  return key;
}
