/**
 * One connection of the package `mysql2`. Statements with binds use the binary protocol: the values travel apart from the text, so that no
 * value can change the statement. Arrays and objects are refused as binds.
 *
 * A `datetime` is read and written as UTC, a `date` is a text, an integer above 2^53 - 1 is a text, `decimal` is a text. JSON is written as
 * a text.
 */
import type { Connection, ConnectionOptions } from "mysql2";
import { checkText, refuseBind } from "../../bind.js";
import { lostConnectionError } from "../../driver-error.js";
import type { DriverResult, TransactionStatus } from "../../driver.js";
import { JsonBind } from "../../json.js";
import type { ServerTimeouts } from "../server-settings.js";
import { formatAddress, readPassword, type ServerUrl } from "../server-url.js";
import type { Clock } from "../../../runtime/clock.js";
import { closesConnection, endsTransaction, isFatal, isMariadb, mysqlConnectError } from "./mysql-failure.js";
import type { MysqlSettings } from "./mysql-options.js";
import { mysql2 } from "./mysql-package.js";

/** Prepared statements of one connection; the package removes the least recently used one. */
const MAX_STATEMENTS = 256;
const CLOSE_MS = 1000;
/** A flag of the server's response. */
const IN_TRANSACTION = 1;

/** Members that the types of the package leave out. */
interface Internals {
  readonly stream: { destroy(): void };
}

interface Header {
  readonly affectedRows: number;
  readonly changedRows?: number;
  readonly insertId: number | string;
  readonly serverStatus?: number;
}

type Bind = string | number | bigint | boolean | Date | Buffer | null;

export class MysqlClient {
  isClosed = false;
  isBusy = false;
  status: TransactionStatus = "none";
  /** Set by the user: called once, when the server has closed the connection. */
  onClosed: (() => void) | undefined = undefined;

  private constructor(
    private readonly connection: Connection,
    private readonly address: string,
    private readonly clock: Clock,
  ) {
    connection.on("error", () => this.markClosed());
    connection.on("end", () => this.markClosed());
  }

  /** @throws DriverError; the reason of the signal */
  static async open(
    settings: MysqlSettings,
    server: ServerUrl,
    timeouts: ServerTimeouts,
    clock: Clock,
    signal: AbortSignal,
  ): Promise<MysqlClient> {
    const password = await readPassword(server);
    signal.throwIfAborted();
    const connection = mysql2.createConnection(toConfig(settings, server, password));
    const client = new MysqlClient(connection, formatAddress(server), clock);
    const abort = (): void => client.destroy();
    signal.addEventListener("abort", abort, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        connection.connect((error) => (error === null ? resolve() : reject(error)));
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
      await client.setTimeouts(timeouts);
      signal.throwIfAborted();
      return client;
    } catch (error) {
      client.destroy();
      throw signal.aborted ? signal.reason : mysqlConnectError(error, client.address);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  get threadId(): number {
    return this.connection.threadId ?? 0;
  }

  async send(sql: string, parameters: readonly unknown[] = []): Promise<DriverResult> {
    const binds = toBinds(parameters);
    if (this.isClosed) throw lostConnectionError(this.address, undefined);
    this.isBusy = true;
    try {
      const result = readResult(await this.execute(sql, binds));
      if (result.header?.serverStatus !== undefined) this.status = toStatus(result.header.serverStatus);
      return result.result;
    } catch (error) {
      // The package reports a reset connection only to the running statement.
      if (isFatal(error)) this.destroy();
      if (this.isClosed) throw lostConnectionError(this.address, error);
      if (closesConnection(error)) this.destroy();
      else if (endsTransaction(error)) await this.ensureRolledBack();
      else if (this.status === "open") await this.refreshStatus();
      throw error;
    } finally {
      this.isBusy = false;
    }
  }

  close(): void {
    if (this.isClosed || this.isBusy) return this.destroy();
    const timer = this.clock.setTimeout(() => this.destroy(), CLOSE_MS, { background: true });
    this.connection.end(() => timer.cancel());
  }

  destroy(): void {
    // The method of the package waits for the server.
    (this.connection as unknown as Internals).stream.destroy();
    this.markClosed();
  }

  private execute(sql: string, binds: Bind[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null, result: unknown, fields?: readonly unknown[]): void =>
        error === null ? resolve(parseJsonColumns(result, fields)) : reject(error);
      // Some statements cannot be prepared, and a statement without binds need not be.
      if (binds.length === 0) this.connection.query(sql, settle);
      else this.connection.execute(sql, binds, settle);
    });
  }

  /**
   * The server has rolled the transaction back. The rollback is sent again, so that no later statement runs unnoticed outside of the
   * transaction.
   */
  private async ensureRolledBack(): Promise<void> {
    this.status = "none";
    await this.execute("rollback", []).catch(() => this.destroy());
  }

  /**
   * An error does not tell whether the transaction is still open: with the setting `innodb_rollback_on_timeout` the timeout of a lock ends
   * it, and so does a full table of locks. A late cancel may end the first query, so it is retried once.
   */
  private async refreshStatus(): Promise<void> {
    const flags = await this.queryFlags()
      .catch(() => this.queryFlags())
      .catch(() => undefined);
    if (flags === undefined) this.destroy();
    else this.status = toStatus(flags);
  }

  private async queryFlags(): Promise<number | undefined> {
    return readResult(await this.execute("do 0", [])).header?.serverStatus;
  }

  private async setTimeouts({ statement, lock, idleInTransaction }: ServerTimeouts): Promise<void> {
    const [{ version } = {}] = (await this.send("select version() as version")).rows;
    const lockSeconds = Math.ceil(lock / 1000);
    const limits = isMariadb(String(version))
      ? [
          `max_statement_time = ${statement / 1000}`,
          `idle_transaction_timeout = ${Math.ceil(idleInTransaction / 1000)}`,
        ]
      : [`max_execution_time = ${statement}`];
    const all = [...limits, `innodb_lock_wait_timeout = ${lockSeconds}`, `lock_wait_timeout = ${lockSeconds}`];
    await this.send(`set time_zone = '+00:00', ${all.map((each) => `session ${each}`).join(", ")}`);
  }

  private markClosed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.onClosed?.();
  }
}

/** The mark of a column of JSON: MariaDB sends the format, and MySQL the type. */
interface JsonField {
  readonly name: string;
  readonly extendedFormat?: string;
  readonly columnType?: number;
}

const JSON_TYPE = 245;

/** The package would convert the integers above 2^53 - 1 in JSON to texts, on Node 22 and newer. */
function parseJsonColumns(result: unknown, fields: readonly unknown[] | undefined): unknown {
  if (!Array.isArray(result) || !Array.isArray(fields)) return result;
  // The package describes each column, and a row is an object by the names of the columns.
  const rows = result as Record<string, unknown>[];
  for (const field of fields as readonly (JsonField | undefined)[]) {
    if (field?.extendedFormat !== "json" && field?.columnType !== JSON_TYPE) continue;
    for (const row of rows) {
      const text = row[field.name];
      if (typeof text === "string") row[field.name] = JSON.parse(text);
    }
  }
  return result;
}

function toConfig({ tls, bigints }: MysqlSettings, server: ServerUrl, password: string): ConnectionOptions {
  const { host, port, database, user } = server;
  return {
    host,
    port,
    database,
    user,
    password,
    ...(tls !== undefined && { ssl: { ...tls } }),
    // The pool has the time limit of an attempt.
    connectTimeout: 0,
    charset: "utf8mb4",
    timezone: "Z",
    dateStrings: ["DATE"],
    supportBigNumbers: true,
    jsonStrings: true,
    bigNumberStrings: bigints === "string",
    maxPreparedStatements: MAX_STATEMENTS,
    // Without the flag a server could ask for files of this machine.
    flags: ["-LOCAL_FILES"],
  };
}

/** @throws FrameworkError `E_DB_BIND` for arrays, objects, and values that have no type on the server, which would store 0 or null */
function toBinds(parameters: readonly unknown[]): Bind[] {
  return parameters.map((value, index) => {
    if (value === null || Buffer.isBuffer(value)) return value;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? refuseBind(value, index) : value;
    if (value instanceof JsonBind) return value.text;
    if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    switch (typeof value) {
      case "number":
        return Number.isFinite(value) ? value : refuseBind(value, index);
      case "string":
        checkText(value);
        return value;
      case "bigint":
      case "boolean":
        return value;
      default:
        return refuseBind(value, index);
    }
  });
}

function readResult(response: unknown): { readonly result: DriverResult; readonly header?: Header } {
  // The package returns an array of rows, an array of results, or the header of a statement without rows.
  if (Array.isArray(response)) {
    const last: unknown =
      Array.isArray(response[0]) || isHeader(response.at(-1)) ? response.find(Array.isArray) : response;
    return { result: { rows: (last ?? []) as DriverResult["rows"] } };
  }
  if (!isHeader(response)) return { result: { rows: [] } };
  const { affectedRows, changedRows, insertId } = response;
  const result: DriverResult = {
    rows: [],
    affected: BigInt(affectedRows),
    ...(changedRows !== undefined && { changed: BigInt(changedRows) }),
    ...(Number(insertId) !== 0 && { insertId: BigInt(insertId) }),
  };
  return { result, header: response };
}

function isHeader(value: unknown): value is Header {
  return typeof value === "object" && value !== null && "affectedRows" in value && "serverStatus" in value;
}

function toStatus(flags: number): TransactionStatus {
  return (flags & IN_TRANSACTION) === 0 ? "none" : "open";
}
