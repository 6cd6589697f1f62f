/**
 * A query that is built and compiled once, and then runs with other values each time. Kysely takes a few microseconds to build and compile
 * a query, which is about twice the time of a query by key. Not for a query whose parts depend on its values.
 */
import type { Compilable, CompiledQuery } from "kysely";
import type { FrameworkError } from "../errors/framework-error.js";
import { createSetupError } from "../errors/setup-error.js";
import { type MaybePromise, toPromise } from "./maybe-promise.js";

export interface PreparedQuery<Values extends readonly unknown[], Row> {
  /** Runs the query. @throws DatabaseError */
  all(...values: Values): Promise<readonly Row[]>;
  /** The first row of the result; `undefined` if there is none. @throws DatabaseError */
  first(...values: Values): Promise<Row | undefined>;
}

/** Runs one compiled query with the values of its parameters, and returns the result of `read`. */
type PreparedRun<Row> = <R>(
  parameters: readonly unknown[],
  read: (result: Result<Row>) => R,
  isFirst: boolean,
) => MaybePromise<R>;

interface Result<Row> {
  readonly rows: readonly Row[];
}

/** @throws FrameworkError `E_DB_PREPARED` if `build` does more with a value than bind it */
export function createPreparedQuery<Values extends readonly unknown[], Row>(
  build: (...values: Values) => Compilable<Row>,
  createRun: (compiled: CompiledQuery<Row>) => PreparedRun<Row>,
): PreparedQuery<Values, Row> {
  const standIns = Array.from({ length: build.length }, (_, index) => new StandIn(index));
  // The length of a function does not count parameters with a default, nor a rest parameter.
  const uncounted = new StandIn(build.length);
  // The builder binds a placeholder in the same way as the value.
  const compiled = build(...([...standIns, uncounted] as unknown as Values)).compile();
  if (compiled.parameters.includes(uncounted)) throw uncountedError();
  for (const standIn of standIns) if (!compiled.parameters.includes(standIn)) throw notBoundError(standIn.index);
  const run = createRun(compiled);
  const toBinds = (values: Values) => compiled.parameters.map((each) => getValue(each, values));
  return {
    all: (...values) => toPromise(() => run(toBinds(values), getRows, false)),
    first: (...values) => toPromise(() => run(toBinds(values), getFirstRow, true)),
  };
}

function getRows<Row>({ rows }: Result<Row>): readonly Row[] {
  return rows;
}

function getFirstRow<Row>({ rows }: Result<Row>): Row | undefined {
  return rows[0];
}

function getValue(parameter: unknown, values: readonly unknown[]): unknown {
  return parameter instanceof StandIn ? values[parameter.index] : parameter;
}

/** Stands for the value of a parameter of `build`. */
class StandIn {
  constructor(readonly index: number) {}

  /** For arithmetic, comparisons and texts. */
  [Symbol.toPrimitive](): never {
    throw notBoundError(this.index);
  }
}

function uncountedError(): FrameworkError {
  return createSetupError(
    "E_DB_PREPARED",
    "db.prepared(…): the query binds a parameter with a default, or of the rest (...values). The query has one text, so give each of " +
      "its parameters a name and no default",
  );
}

function notBoundError(index: number): FrameworkError {
  return createSetupError(
    "E_DB_PREPARED",
    `db.prepared(…): the query does not bind its parameter ${index + 1} as it is. The query is built once, before there are values: ` +
      "compute a value before the call, and build a query whose parts depend on values where it runs",
  );
}
