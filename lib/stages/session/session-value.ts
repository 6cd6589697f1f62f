/** The values of a session as JSON, and the typed keys that read them. */
import { runSchema } from "../../http/body/run-schema.js";
import type { Schema } from "../../runtime/standard-schema.js";
import { findJsonLoss } from "../../runtime/json-loss.js";
import { tracing } from "../../tracing/tracing.js";
import { OWNER_NAME } from "./stores/session-store.js";

const log = tracing.target("framework::session");

/** In UTF-16 code units. A session is read and written by many requests; larger data belongs to a database. */
export const MAX_VALUE_LENGTH = 262_144;

/** A typed name of a value in the session. Two keys with the same name are the same value. */
export class SessionKey<T> {
  /** Only the compiler sees this member: it keeps keys of different types apart. */
  declare readonly type: T;

  /** @internal Use `sessionKey`. */
  constructor(
    readonly name: string,
    readonly schema: Schema<unknown, T> | undefined,
  ) {
    checkName(name);
  }
}

/**
 * A typed key: `get` returns a `T`, and `put` takes one. With a schema (Standard Schema: zod, valibot, arktype) a stored value that does
 * not fit, for example one of an older version of the application, counts as missing.
 *
 * @throws TypeError for a name that is empty, is longer than 256 characters, has a lone surrogate, starts with `_flash`, or is
 * `_owner`
 * @example
 * const CART = sessionKey<Cart>("cart");
 * const cart = await Session.of(ctx).get(CART);
 */
export function sessionKey<T>(name: string, schema?: Schema<unknown, T>): SessionKey<T> {
  return new SessionKey(name, schema);
}

/** The names that `Flash` uses. */
export const FLASH_PREFIX = "_flash";

const MAX_NAME_LENGTH = 256;

/** Stores write names in UTF-8, where two different lone surrogates would become the same character. */
function isPlainName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && !/\p{Surrogate}/u.test(name);
}

/** @throws TypeError for a name of a flash text or of a bag of errors that no store can keep */
export function checkFlashName(name: unknown): void {
  if (typeof name === "string" && isPlainName(name)) return;
  throw new TypeError(
    `the name of a flash text or of a bag of errors is a text of at most ${MAX_NAME_LENGTH} characters, without lone surrogates`,
  );
}

/** @throws TypeError */
export function checkName(name: unknown): void {
  if (typeof name !== "string" || name === "" || !isPlainName(name)) {
    throw new TypeError(
      `the name of a session value is a text of 1 to ${MAX_NAME_LENGTH} characters, without lone surrogates`,
    );
  }
  if (name.startsWith(FLASH_PREFIX))
    throw new TypeError(`the session value "${name}" belongs to Flash: use Flash.of(ctx)`);
  if (name === OWNER_NAME) throw new TypeError(`the session value "${name}" is the owner: use setOwner(id)`);
}

/** The JSON of an owner. @throws TypeError for an id that is empty, is longer than 256 characters, or has a lone surrogate */
export function serializeOwner(id: string): string {
  if (typeof id === "string" && id !== "" && isPlainName(id)) return JSON.stringify(id);
  throw new TypeError(
    `the owner of a session is a text of 1 to ${MAX_NAME_LENGTH} characters, without lone surrogates`,
  );
}

/** The value as the schema of the key returns it; `undefined` for a value that does not fit. */
export function validateValue(value: unknown, key: string | SessionKey<unknown>): unknown {
  return typeof key === "string" || key.schema === undefined ? value : checkAgainstSchema(key.schema, value, key.name);
}

async function checkAgainstSchema(schema: Schema, value: unknown, name: string): Promise<unknown> {
  const result = await runSchema(schema, value, `the session value ${name}`);
  if (result.issues === undefined) return result.value;
  log.debug("session value does not fit its schema", { name });
  return undefined;
}

/**
 * The JSON of a value.
 *
 * @throws TypeError for a value that JSON would lose or change, at any depth; it names the place, never the value
 */
export function serializeValue(name: string, value: unknown): string {
  try {
    return serialize(name, value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The stack was too short for the nesting.
    throw new TypeError(
      `the session value ${name} is nested too deeply: keep it in a database, and its id in the session`,
      { cause: error },
    );
  }
}

function serialize(name: string, value: unknown): string {
  // Refuses cycles and bigints, so that the walk below ends.
  const text = JSON.stringify(value) as string | undefined;
  const lost = text === undefined ? { path: name, kind: typeof value } : findJsonLoss(value, name);
  if (lost !== undefined)
    throw new TypeError(
      `the session value ${lost.path} is ${lost.kind}, which JSON cannot keep: set a value of texts, numbers, lists and plain objects`,
    );
  if (text === undefined || text.length > MAX_VALUE_LENGTH) {
    throw new TypeError(
      `the session value ${name} is longer than ${MAX_VALUE_LENGTH} characters of JSON: keep it in a database, and its id in the session`,
    );
  }
  return text;
}
