/**
 * A query of the package `pg` for a statement that the server prepares. The package asks the server to describe the columns at each
 * execution, and reads the answer anew. The columns of a prepared statement do not change: where a table has changed, the server refuses
 * the statement. So this query keeps the columns of the first execution and does not ask again.
 *
 * It uses names of the package that are not public. With a version of the package that has other names, each execution asks.
 */
import type { Connection } from "pg";
import { pg } from "./postgres-package.js";

/** The columns, as the package keeps them. */
interface Columns {
  fields: unknown;
  _parsers: unknown;
  _prebuiltEmptyResultObject: unknown;
}

/** The columns of the statements of one connection, by the name of the statement. */
export type KnownColumns = Map<string, Columns>;

type SettleQuery = (error: Error | null | undefined, result: unknown) => void;

interface QueryInternals {
  readonly values: readonly unknown[];
  /** The command is `null` for a query that was not executed. */
  readonly _result: Columns & { readonly command: string | null };
  _accumulateRows: boolean;
}

const base = pg.Query.prototype as unknown as {
  prepare(connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
  handleCopyInResponse(connection: Connection): void;
};

/** The state of a result of the package. With any other, the columns are not kept. */
const RESULT = "RowCtor _parsers _prebuiltEmptyResultObject _types command fields oid rowAsArray rowCount rows".split(
  " ",
);

export class NamedQuery extends pg.Query {
  constructor(
    text: string,
    values: unknown[],
    settle: SettleQuery,
    readonly name: string,
    private readonly known: KnownColumns,
  ) {
    super(text, values, settle);
  }

  /** Called by the package to send the query. */
  prepare(connection: Connection): void {
    const columns = this.known.get(this.name);
    const { values, _result: result } = this.internals;
    const binds = columns && textsOf(values);
    if (columns === undefined || binds === undefined) return base.prepare.call(this, connection);
    result.fields = columns.fields;
    result._parsers = columns._parsers;
    result._prebuiltEmptyResultObject = columns._prebuiltEmptyResultObject;
    this.internals._accumulateRows = true;
    connection.bind({ statement: this.name, values: binds }, true);
    connection.execute({}, true);
    connection.sync();
  }

  /** Called by the package at the end of a query that did not fail. */
  handleReadyForQuery(connection: Connection): void {
    if (!this.known.has(this.name)) this.keepColumns();
    base.handleReadyForQuery.call(this, connection);
  }

  /** Called by the package where the server waits for rows to copy. There are none, and the server has dropped the message behind the query. */
  handleCopyInResponse(connection: Connection): void {
    base.handleCopyInResponse.call(this, connection);
    connection.sync();
  }

  private keepColumns(): void {
    const { _result: result } = this.internals;
    if (result.command === null || Object.keys(result).toSorted().join(" ") !== RESULT.join(" ")) return;
    const { fields, _parsers, _prebuiltEmptyResultObject } = result;
    this.known.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }

  private get internals(): QueryInternals {
    return this as unknown as QueryInternals; // It has the members of the interface.
  }
}

/** The binds as the server reads them. `undefined` if the package converts one of them in a way of its own. */
function textsOf(values: readonly unknown[]): (string | null)[] | undefined {
  const texts: (string | null)[] = [];
  for (const value of values) {
    if (typeof value === "string" || value === null) texts.push(value);
    else if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
      texts.push(String(value));
    else return undefined;
  }
  return texts;
}
