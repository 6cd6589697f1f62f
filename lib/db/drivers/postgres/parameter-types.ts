/**
 * The parameters of a statement that are JSON. Only the server knows the type of a parameter, and a text, an array and a Date have another
 * meaning for a parameter of JSON. So the driver asks the server before the first execution of a write with such a bind, and of a read with
 * an array. It caches the types for all connections.
 *
 * It uses names of the package that are not public, as `NamedQuery` does.
 */
import type { Connection } from "pg";
import { JsonBind } from "../../json.js";
import { pg } from "./postgres-package.js";

/** `json` and `jsonb` in the catalogue of the server. */
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802]);
/** `json[]` and `jsonb[]`. */
const JSON_ARRAYS: ReadonlySet<number> = new Set([199, 3807]);
const MAX_STATEMENTS = 2048;
/** A longer text is rarely repeated. */
const MAX_TEXT_LENGTH = 16_384;

/** `cast`: the statement itself casts a text to JSON. */
type JsonParameter = "json" | "cast" | "array";
/** The positions of the parameters that are JSON, from 0. */
export type JsonPositions = ReadonlyMap<number, JsonParameter>;

export const NO_JSON: JsonPositions = new Map();

export class ParameterTypes {
  /** Grows when a column has changed its type, which makes the plans of older connections invalid. */
  version = 0;
  private readonly positions = new Map<string, JsonPositions>();

  /** Also `undefined` if a parameter of JSON gets a text without a cast: the column may have another type now, so the driver asks again. */
  find(sql: string, parameters: readonly unknown[]): JsonPositions | undefined {
    const positions = this.positions.get(sql);
    if (positions === undefined || positions.size === 0) return positions;
    for (const [index, kind] of positions)
      if (kind === "json" && typeof parameters[index] === "string") return undefined;
    return positions;
  }

  store(sql: string, types: readonly number[]): JsonPositions {
    const positions = new Map<number, JsonParameter>();
    for (const [index, type] of types.entries()) {
      if (JSON_TYPES.has(type)) positions.set(index, isCast(sql, index + 1) ? "cast" : "json");
      else if (JSON_ARRAYS.has(type) && !isCast(sql, index + 1)) positions.set(index, "array");
    }
    const known = this.positions.get(sql);
    if (known !== undefined && known.size !== positions.size) this.version++;
    if (this.positions.size >= MAX_STATEMENTS) this.positions.clear();
    if (sql.length <= MAX_TEXT_LENGTH) this.positions.set(sql, positions);
    return positions;
  }

  delete(sql: string): void {
    this.positions.delete(sql);
  }

  /** For a changed table, whose columns may have other types. */
  clear(): void {
    this.positions.clear();
  }
}

export function needsTypes(parameters: readonly unknown[], isRead: boolean): boolean {
  return parameters.some((value) => (isRead ? Array.isArray(value) : isUnclear(value)));
}

/** `$1::jsonb` and `cast($1 as json)` declare that a text is JSON. */
function isCast(sql: string, place: number): boolean {
  return new RegExp(String.raw`\$${place}\s*::\s*jsonb?\b|\bcast\s*\(\s*\$${place}\s+as\s+jsonb?\b`, "i").test(sql);
}

function isUnclear(value: unknown): boolean {
  if (typeof value === "string") return true;
  return typeof value === "object" && value !== null && !(value instanceof JsonBind) && !(value instanceof Uint8Array);
}

/** Asks for the types of the parameters, without an execution. The server sends them before it is ready. */
export class DescribeQuery extends pg.Query {
  constructor(
    private readonly sql: string,
    settle: (error: Error | null | undefined) => void,
  ) {
    super(sql, [], settle);
  }

  requiresPreparation(): boolean {
    return true;
  }

  prepare(connection: Connection): void {
    const protocol = connection as unknown as ExtendedProtocol; // It has the members of the interface.
    protocol.parse({ text: this.sql, name: "" });
    protocol.describe({ type: "S", name: "" });
    protocol.sync();
  }
}

interface ExtendedProtocol {
  parse(statement: { readonly text: string; readonly name: string }): void;
  describe(statement: { readonly type: "S"; readonly name: string }): void;
  sync(): void;
}
