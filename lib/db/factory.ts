/**
 * Rows for tests: a factory has the values of a valid row, and a test names only the values that matter to it.
 *
 * @example
 * const links = factory(db, "links", (n) => ({ slug: `link-${n}`, target: "https://example.com" }));
 * const link = await links.create({ target: "https://example.org" });
 */
import type { Insertable, Selectable } from "kysely";
import type { Database } from "./database.js";

export interface Factory<Row, Stored> {
  /** A row that is not stored. */
  make(values?: Partial<Row>): Row;
  /** Stores a row and returns it as the database has it. On MySQL: the given values, and `id` if the database generated one. */
  create(values?: Partial<Row>): Promise<Stored>;
  createMany(count: number, values?: Partial<Row>): Promise<readonly Stored[]>;
}

/** @param make gets 1, 2, 3, … so that unique values differ */
export function factory<Tables, Table extends keyof Tables & string>(
  db: Database<Tables>,
  table: Table,
  make: (sequence: number) => Insertable<Tables[Table]>,
): Factory<Insertable<Tables[Table]>, Selectable<Tables[Table]>> {
  type Row = Insertable<Tables[Table]>;
  type Stored = Selectable<Tables[Table]>;
  let count = 0;
  const makeRow = (values?: Partial<Row>): Row => ({ ...make(++count), ...values });
  const create = async (values?: Partial<Row>): Promise<Stored> => {
    const row = makeRow(values);
    const insert = db.query.insertInto(table).values(row);
    // The types of Kysely cannot follow a table that is a parameter.
    if (db.query.getExecutor().adapter.supportsReturning) return insert.returningAll().executeTakeFirstOrThrow();
    const { insertId } = await insert.executeTakeFirstOrThrow();
    return { ...(insertId !== undefined && { id: Number(insertId) }), ...row } as unknown as Stored;
  };
  const createMany = async (size: number, values?: Partial<Row>): Promise<readonly Stored[]> => {
    const stored: Stored[] = [];
    for (let index = 0; index < size; index++) stored.push(await create(values));
    return stored;
  };
  return { make: makeRow, create, createMany };
}
