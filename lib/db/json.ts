/**
 * `json(value)`: a value for a column of JSON. An engine takes JSON as a text, and a driver cannot know the meaning of a plain bind:
 * PostgreSQL reads the text `5` as a number, and an empty array as an empty object.
 *
 * @example
 * await db.query.insertInto("notes").values({ id: 1, body: json({ tags: [] }) }).execute();
 * await db.run("update notes set body = ? where id = ?", [json("5"), 1]);
 */
import type { Expression, OperationNode, ValueNode } from "kysely";
import { findJsonLoss } from "../runtime/json-loss.js";
import { bindError } from "./bind.js";
import { databaseError } from "./database-error.js";

/** A bind that is JSON, in a query and in `db.run`. */
export class JsonBind<T> implements Expression<T> {
  /** The JSON that a driver sends. */
  readonly text: string;

  /** @throws as `json` */
  constructor(value: T) {
    this.text = toJsonText(value, "the value of json(…)");
    // JSON.stringify has refused a cycle.
    const loss = findJsonLoss(value, "the value of json(…)");
    if (loss !== undefined) throw bindError(`${loss.path} is ${loss.kind}, which JSON cannot keep`);
  }

  /** Called for a bind inside of an array or an object that a driver writes as JSON. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }

  get expressionType(): T | undefined {
    return undefined;
  }

  toOperationNode(): OperationNode {
    // The node that Kysely itself creates for a parameter. Kysely is not loaded here, because drivers import this file.
    const node: ValueNode = { kind: "ValueNode", value: this };
    return Object.freeze(node);
  }
}

/**
 * The value as JSON. `json(null)` is the null of JSON, and a plain null is that of SQL.
 *
 * @throws FrameworkError `E_DB_BIND` for a value that JSON cannot represent, such as a bigint, a Date or `NaN`; `E_DB_TEXT`, a 400, for
 * half of a surrogate pair
 */
export function json<T>(value: T): JsonBind<T> {
  return new JsonBind(value);
}

/** @param place for the error; @throws FrameworkError `E_DB_BIND`, `E_DB_TEXT` */
export function toJsonText(value: unknown, place: string): string {
  const text = stringify(value);
  if (text === undefined) throw bindError(`${place} cannot be written as JSON`);
  // JSON writes half of a surrogate pair as an escape, which PostgreSQL refuses and other engines store.
  if (/(?:^|[^\\])(?:\\\\)*\\ud[89a-f]/.test(text)) throw databaseError({ kind: "text" }, place);
  return text;
}

/** `undefined` also for a value that refers to itself, holds a bigint, or has a method that throws. */
function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
