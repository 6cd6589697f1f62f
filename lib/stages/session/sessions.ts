/**
 * The sessions of an owner, for "sign out there" and "sign out everywhere". `Session.setOwner` names the owner, as a rule at the sign-in.
 * A session ends in the store at once, so the next request with its cookie is that of a visitor, in every process.
 *
 * A class gets it by injection, and a handler by `Sessions.of(ctx)`. It is not for the session of the request itself: that is `Session`.
 * Where the store is the database of the application, call it outside of a transaction.
 *
 * @example
 * constructor(private readonly sessions: Sessions) {}
 *
 * await this.sessions.endAll(user.id, { except: ({ key }) => key === Session.of(ctx).key });
 */
import { PROVIDED_BY } from "../../di/provided-by.js";
import type { Context } from "../../http/request/context.js";
import { OVERDUE, within, type Clock } from "../../runtime/clock.js";
import { Session } from "./session.js";
import { serializeOwner, validateValue, type SessionKey } from "./session-value.js";
import { OWNER_NAME, type Awaitable, type SessionStore, type StoredSession } from "./stores/session-store.js";
import {
  checkOwned,
  checkRecord,
  createOverdueError,
  createStoreFailure,
  STORE_LIMIT_MS,
} from "./stores/store-results.js";

export interface EndAllOptions {
  /** The sessions that stay. */
  readonly except?: (session: OwnedSession) => Awaitable<boolean>;
}

/** A session in the list of its owner. */
export class OwnedSession {
  /** The key of the session in its store. It opens no session, so a page may show it. */
  readonly key: string;
  /** The time of the last use, to the minute: milliseconds since the Unix epoch. */
  readonly renewedAt: number;
  // Not `private`: printing the object would show the values.
  readonly #record: StoredSession;

  /** @internal */
  constructor(record: StoredSession) {
    this.key = record.key;
    this.renewedAt = record.renewedAt;
    this.#record = record;
  }

  /** A value of the session; `undefined` if there is none, or it does not fit the schema of the key. */
  get<T>(key: SessionKey<T>): Promise<T | undefined>;
  get(key: string): Promise<unknown>;
  async get(key: string | SessionKey<unknown>): Promise<unknown> {
    const text = this.#record.values.get(typeof key === "string" ? key : key.name);
    return text === undefined ? undefined : validateValue(JSON.parse(text), key);
  }
}

/** Rounds of `endAll`. Each one ends the sessions that requests have moved or created during the round before. */
const MAX_ROUNDS = 100;

export class Sessions {
  /** @internal */
  static readonly [PROVIDED_BY] = ".session(config)";
  readonly #store: SessionStore;
  readonly #clock: Clock;

  /**
   * Inject it, or use `Sessions.of`.
   *
   * @param isStrict whether a browser leaves out the cookie of the session where another site leads here
   * @internal
   */
  constructor(
    store: SessionStore,
    clock: Clock,
    /** @internal */
    readonly isStrict = false,
  ) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * The sessions in the store of the request.
   *
   * @throws FrameworkError `E_SESSION_MISSING` with status 500 without a session stage
   */
  static of(ctx: Context): Sessions {
    return new Sessions(Session.of(ctx).settings.store, ctx.clock);
  }

  /**
   * The sessions of the owner, the one used last first, and at most 1000.
   *
   * @throws UnavailableError (503) if the store fails
   */
  async list(owner: string): Promise<readonly OwnedSession[]> {
    const text = serializeOwner(owner);
    return this.call(async (store, now) => {
      const records = checkOwned(await store.listOfOwner(text, now), text);
      return records.map((record) => new OwnedSession(record));
    });
  }

  /**
   * Ends one session of the owner. False if the owner has no such session: a key of another owner ends nothing.
   *
   * @throws UnavailableError (503) if the store fails
   */
  async end(owner: string, key: string): Promise<boolean> {
    const text = serializeOwner(owner);
    if (!isKey(key)) return false;
    return this.call(async (store, now) => {
      const record = checkRecord(await store.load(key, now), key);
      if (record?.values.get(OWNER_NAME) !== text) return false;
      await store.end(key, now);
      return true;
    });
  }

  /**
   * Ends the sessions of the owner, also those that requests move to a new id meanwhile. Returns their number.
   *
   * @throws UnavailableError (503) if the store fails
   */
  async endAll(owner: string, { except = () => false }: EndAllOptions = {}): Promise<number> {
    let count = 0;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const ended = await this.endListed(await this.list(owner), except);
      count += ended;
      if (ended === 0) break;
    }
    return count;
  }

  private async endListed(
    sessions: readonly OwnedSession[],
    except: (session: OwnedSession) => Awaitable<boolean>,
  ): Promise<number> {
    let count = 0;
    for (const session of sessions) {
      if (await except(session)) continue;
      await this.call((store, now) => store.end(session.key, now));
      count++;
    }
    return count;
  }

  /** Calls the store. A failure, or a result that takes too long, is a 503. */
  private async call<T>(work: (store: SessionStore, now: number) => Awaitable<T>): Promise<T> {
    const attempt = async (): Promise<T> => work(this.#store, this.#clock.now());
    const result = await within(this.#clock, STORE_LIMIT_MS, attempt()).catch((error: unknown) => {
      throw createStoreFailure(error);
    });
    if (result === OVERDUE) throw createStoreFailure(createOverdueError());
    return result;
  }
}

const KEY_BYTES = 32;

/** Whether a text, which a form may have sent, is a SHA-256 in base64url. */
function isKey(text: string): boolean {
  const bytes = Buffer.from(text, "base64url");
  return bytes.length === KEY_BYTES && bytes.toString("base64url") === text;
}
