/**
 * `json(value)`: a value for a column of JSON. An engine takes the text of JSON, and a driver cannot know what a plain bind stands for: the
 * text `5` is a number to PostgreSQL, and an empty array is its empty object.
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
  /** What a driver writes. */
  readonly text: string;

  /** @throws as `json` */
  constructor(value: T) {
    this.text = toJsonText(value, "the value of json(…)");
    // JSON.stringify has refused a cycle.
    const loss = findJsonLoss(value, "the value of json(…)");
    if (loss !== undefined) throw bindError(`${loss.path} is ${loss.kind}, which JSON cannot keep`);
  }

  /** Inside of an array or an object that a driver writes as JSON. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }

  get expressionType(): T | undefined {
    return undefined;
  }

  toOperationNode(): OperationNode {
    // A parameter of the query, as Kysely makes it. Kysely is not loaded here, because drivers import this file.
    const node: ValueNode = { kind: "ValueNode", value: this };
    return Object.freeze(node);
  }
}

/**
 * The value as JSON; `json(null)` is the null of JSON, and a plain null that of SQL.
 *
 * @throws FrameworkError `E_DB_BIND` for what JSON does not give back, such as a bigint, a Date or `NaN`; `E_DB_TEXT`, a 400, for half of a
 * surrogate pair
 */
export function json<T>(value: T): JsonBind<T> {
  return new JsonBind(value);
}

/** @param place for the error; @throws FrameworkError `E_DB_BIND`, `E_DB_TEXT` */
export function toJsonText(value: unknown, place: string): string {
  const text = stringify(value);
  if (text === undefined) throw bindError(`${place} cannot be written as JSON`);
  // JSON writes half of a surrogate pair as an escape, which PostgreSQL refuses and others keep.
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
