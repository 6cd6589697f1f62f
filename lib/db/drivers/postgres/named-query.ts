/**
 * A query of the package `pg` for a statement that the server prepares. The package asks the server to describe the columns at each
 * execution, and parses the description again. The columns of a prepared statement do not change: where a table has changed, the server
 * refuses the statement. So this query caches the columns of the first execution and does not ask again.
 *
 * It uses names of the package that are not public, so the range of the package ends at the newest version that the specs have run with.
 */
import type { Connection } from "pg";
import { pg } from "./postgres-package.js";

/** The columns, as the package stores them. */
interface Columns {
  fields: unknown;
  _parsers: unknown;
  _prebuiltEmptyResultObject: unknown;
}

interface KnownStatement {
  readonly columns: Columns;
  /** The start of the message, which is the same at each execution. */
  readonly head: Buffer;
}

/** The statements of one connection, by their names. */
export type KnownColumns = Map<string, KnownStatement>;

type SettleQuery = (error: Error | null | undefined, result: unknown) => void;

interface QueryInternals {
  readonly values: readonly unknown[];
  /** The command is `null` for a query that was not executed. */
  readonly _result: Columns & {
    readonly command: string | null;
    readonly rows: unknown[];
    parseRow(fields: unknown): unknown;
  };
  _accumulateRows: boolean;
  /** The error of a row that could not be read; `false` without one. */
  _canceledDueToError: unknown;
}

interface RowMessage {
  readonly fields: unknown;
}

const base = pg.Query.prototype as unknown as {
  prepare(connection: Connection): void;
  handleDataRow(message: RowMessage): void;
  handleReadyForQuery(connection: Connection): void;
  handleCopyInResponse(connection: Connection): void;
};

export class NamedQuery extends pg.Query {
  private isKnown = false;

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
    const known = this.known.get(this.name);
    const { values, _result: result } = this.internals;
    const binds = known && toTexts(values);
    if (known === undefined || binds === undefined) return base.prepare.call(this, connection);
    const { columns, head } = known;
    result.fields = columns.fields;
    result._parsers = columns._parsers;
    result._prebuiltEmptyResultObject = columns._prebuiltEmptyResultObject;
    this.internals._accumulateRows = true;
    this.isKnown = true;
    if (connection.stream.writable) connection.stream.write(createExecution(head, binds));
  }

  /** Called by the package for each row. The method of the package also emits an event for each row, and that event has no listener. */
  handleDataRow(message: RowMessage): void {
    const { internals } = this;
    if (!this.isKnown) return base.handleDataRow.call(this, message);
    if (internals._canceledDueToError !== false) return;
    try {
      internals._result.rows.push(internals._result.parseRow(message.fields));
    } catch (error) {
      internals._canceledDueToError = error;
    }
  }

  /** Called by the package at the end of a query that did not fail. */
  handleReadyForQuery(connection: Connection): void {
    if (!this.known.has(this.name)) this.cacheColumns();
    base.handleReadyForQuery.call(this, connection);
  }

  /** Called by the package where the server waits for rows to copy. There are none, and the server has dropped the `sync` of the query. */
  handleCopyInResponse(connection: Connection): void {
    base.handleCopyInResponse.call(this, connection);
    connection.sync();
  }

  private cacheColumns(): void {
    const { _result: result, _canceledDueToError: failure } = this.internals;
    if (failure !== false || result.command === null) return;
    const { fields, _parsers, _prebuiltEmptyResultObject } = result;
    this.known.set(this.name, {
      columns: { fields, _parsers, _prebuiltEmptyResultObject },
      head: createBindHead(this.name),
    });
  }

  private get internals(): QueryInternals {
    return this as unknown as QueryInternals; // It has the members of the interface.
  }
}

/** The binds as texts for the server. `undefined` if the package must convert one of them. */
function toTexts(values: readonly unknown[]): (string | null)[] | undefined {
  const texts: (string | null)[] = [];
  for (const value of values) {
    if (typeof value === "string" || value === null) texts.push(value);
    else if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
      texts.push(String(value));
    else return undefined;
  }
  return texts;
}

/** Executes the portal completely, and ends the statement. */
const EXECUTE_AND_SYNC = Buffer.from("E\0\0\0\u0009\0\0\0\0\0S\0\0\0\u0004", "latin1");

/** The start of the Bind message: an unnamed portal, the statement, and no formats, which means texts. */
function createBindHead(name: string): Buffer {
  return Buffer.from(`B\0\0\0\0\0${name}\0\0\0`, "latin1");
}

/** Bind, Execute and Sync in one buffer: the package creates three, and three writes cost more than a longer one. */
function createExecution(head: Buffer, binds: readonly (string | null)[]): Buffer {
  let size = head.length + 4;
  for (const bind of binds) size += 4 + (bind === null ? 0 : Buffer.byteLength(bind));
  const message = Buffer.allocUnsafe(size + EXECUTE_AND_SYNC.length);
  head.copy(message);
  // The type of the message does not count.
  message.writeInt32BE(size - 1, 1);
  let at = message.writeUInt16BE(binds.length, head.length);
  for (const bind of binds) {
    const length = bind === null ? -1 : message.write(bind, at + 4);
    message.writeInt32BE(length, at);
    at += 4 + Math.max(0, length);
  }
  EXECUTE_AND_SYNC.copy(message, message.writeInt16BE(0, at));
  return message;
}
