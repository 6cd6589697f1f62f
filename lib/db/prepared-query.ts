/**
 * A query that is built and compiled once, and then runs with other values each time. Kysely takes a few microseconds to build and compile a
 * query, which a query by key pays about twice over. Not for a query whose parts depend on its values.
 */
import type { Compilable, CompiledQuery, QueryResult } from "kysely";
import { FrameworkError } from "../errors/framework-error.js";
import { setupError } from "../errors/setup-error.js";

export interface PreparedQuery<Values extends readonly unknown[], Row> {
  /** Runs the query. @throws DatabaseError */
  all(...values: Values): Promise<readonly Row[]>;
  /** The first row of the result; `undefined` if there is none. @throws DatabaseError */
  first(...values: Values): Promise<Row | undefined>;
}

/** Executes a compiled query on the database. */
type Execute = <Row>(query: CompiledQuery<Row>) => Promise<QueryResult<Row>>;

/** @throws FrameworkError `E_DB_PREPARED` if `build` does anything with a value but to bind it */
export function preparedQuery<Values extends readonly unknown[], Row>(
  build: (...values: Values) => Compilable<Row>,
  execute: Execute,
): PreparedQuery<Values, Row> {
  const standIns = Array.from({ length: build.length }, (_, index) => new StandIn(index));
  // The builder binds a stand-in as it would bind the value.
  const compiled = build(...(standIns as unknown as Values)).compile();
  for (const standIn of standIns) if (!compiled.parameters.includes(standIn)) throw notBound(standIn.index);
  const run = (values: Values): Promise<QueryResult<Row>> =>
    execute({ ...compiled, parameters: compiled.parameters.map((each) => valueOf(each, values)) });
  return {
    all: async (...values) => (await run(values)).rows,
    first: async (...values) => (await run(values)).rows[0],
  };
}

function valueOf(parameter: unknown, values: readonly unknown[]): unknown {
  return parameter instanceof StandIn ? values[parameter.index] : parameter;
}

/** Stands for the value of a parameter of `build`. */
class StandIn {
  constructor(readonly index: number) {}

  /** For arithmetic, comparisons and texts. */
  [Symbol.toPrimitive](): never {
    throw notBound(this.index);
  }
}

function notBound(index: number): FrameworkError {
  return setupError(
    new FrameworkError(
      `db.prepared(…): the query does not bind its parameter ${index + 1} as it is. The query is built once, before there are values: ` +
        "compute a value before the call, and build a query whose parts depend on values where it runs",
      { code: "E_DB_PREPARED" },
    ),
  );
}
