/**
 * One client of the package `pg`. The server executes the statements in the order of the calls. A pipelined statement is sent before the
 * result of the previous one. After a failure the client waits until the server is ready again, so that the status of the transaction is
 * known. The package does not wait for this.
 */
import type { Client } from "pg";
import { lostConnectionError } from "../../driver-error.js";
import type { DriverResult, TransactionStatus } from "../../driver.js";
import { connectError, isFromServer, withoutBinds } from "./postgres-failure.js";
import type { PostgresSettings } from "./postgres-options.js";
import { type KnownColumns, NamedQuery } from "./named-query.js";
import { DescribeQuery } from "./parameter-types.js";
import { pg } from "./postgres-package.js";
import { toBinds, createPostgresTypes } from "./postgres-types.js";
import type { ServerTimeouts } from "../server-settings.js";
import { formatAddress, readPassword, type ServerUrl } from "../server-url.js";
import type { Clock } from "../../../runtime/clock.js";

/** The time limit of a close with a message to the server. */
const CLOSE_MS = 1000;

/** The callbacks of the sender of a statement. */
export interface StatementSender {
  ended(result: DriverResult): void;
  failed(error: Error): void;
  /** Returns true if a statement with a name is sent again without the name. */
  sendsAgain?(failure: Error): boolean;
  /** Called before the end of a pipelined statement. @param ms for which the server was busy with the earlier statements */
  waited?(ms: number): void;
}

interface ServerResult {
  readonly command: string;
  readonly rowCount: number | null;
  readonly rows: DriverResult["rows"];
}

const WRITES: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);
const STATUSES = { I: "none", T: "open", E: "failed" } as const;

export class PostgresClient {
  /** Statements whose result has not arrived. */
  private pendingStatements = 0;
  private lastReadyAt = 0;
  private isEnded = false;
  private isCorked = false;
  private readonly onceReady: (() => void)[] = [];
  private readonly knownColumns: KnownColumns = new Map();
  private parameterTypes: readonly number[] = [];

  private constructor(
    private readonly client: Client,
    private readonly address: string,
    private readonly clock: Clock,
  ) {
    client.connection.on("readyForQuery", () => this.handleReady());
    client.connection.on("parameterDescription", ({ dataTypeIDs }: { readonly dataTypeIDs: readonly number[] }) => {
      this.parameterTypes = dataTypeIDs;
    });
    client.on("error", () => this.markEnded());
    client.on("end", () => this.markEnded());
    client.on("notification", () => this.onNotification?.());
  }

  /** @throws DriverError; the reason of the signal */
  static async open(
    settings: PostgresSettings,
    server: ServerUrl,
    timeouts: ServerTimeouts,
    clock: Clock,
    signal: AbortSignal,
  ): Promise<PostgresClient> {
    const client = new pg.Client(toConfig(settings, server, timeouts));
    // An error also rejects the promise of `connect`.
    client.on("error", () => {});
    const abort = (): void => void client.connection.stream.destroy();
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      await client.connect();
      signal.throwIfAborted();
      return new PostgresClient(client, formatAddress(server), clock);
    } catch (error) {
      client.connection.stream.destroy();
      throw signal.aborted ? signal.reason : connectError(error, formatAddress(server));
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Set by the user: called once, when the server has closed the connection. */
  onClosed: (() => void) | undefined = undefined;

  /** Set by a user that listens on one channel. */
  onNotification: (() => void) | undefined = undefined;

  get isClosed(): boolean {
    return this.isEnded;
  }

  get isBusy(): boolean {
    return this.pendingStatements > 0;
  }

  get status(): TransactionStatus {
    const status = this.client.getTransactionStatus();
    return status === null ? "none" : STATUSES[status];
  }

  /** For a cancel request. The types of the package leave these out. */
  get session(): { readonly processID: number; readonly secretKey: unknown } {
    return this.client as unknown as { readonly processID: number; readonly secretKey: unknown };
  }

  /** For the statements of the driver itself. */
  send(text: string, parameters: readonly unknown[] = []): Promise<DriverResult> {
    return new Promise((ended, failed) => this.start(text, toBinds(parameters), undefined, { ended, failed }));
  }

  /** With a name the server prepares the statement. @param binds the result of `toBinds` */
  start(text: string, binds: unknown[], name: string | undefined, sender: StatementSender): void {
    if (this.isEnded) return sender.failed(lostConnectionError(this.address, undefined));
    const sentAheadAt = this.isBusy ? this.clock.monotonic() : undefined;
    let hasFailed = false;
    const settle = (error: Error | null | undefined, result: unknown): void => {
      if (sentAheadAt !== undefined) sender.waited?.(this.lastReadyAt - sentAheadAt);
      if (error !== null && error !== undefined) {
        hasFailed = true;
        this.onNextReady(() => {
          if (name !== undefined && sender.sendsAgain?.(error) === true) this.start(text, binds, undefined, sender);
          else sender.failed(this.translateError(error, binds.length > 0));
        });
        // For a bind that the package cannot write, it reports an error before the statement is sent, and then also an end without rows.
      } else if (!hasFailed) {
        // The package returns several results for several statements in one text.
        sender.ended(toResult(result as ServerResult | readonly ServerResult[]));
      }
    };
    // Not an object of options: the package copies it property by property, which costs more than the rest of the query.
    const query =
      name === undefined
        ? new pg.Query(text, binds, settle)
        : new NamedQuery(text, binds, settle, name, this.knownColumns);
    if (this.isBusy) this.cork();
    this.pendingStatements++;
    this.client.query(query);
  }

  /** The types of the parameters, as the numbers of the catalogue, without an execution. */
  describe(text: string): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      if (this.isEnded) return reject(lostConnectionError(this.address, undefined));
      const settle = (error: Error | null | undefined): void => {
        if (error === null || error === undefined) resolve(this.parameterTypes);
        else this.onNextReady(() => reject(this.translateError(error, true)));
      };
      this.pendingStatements++;
      this.client.query(new DescribeQuery(text, settle));
    });
  }

  /** Closes with a message to the server if the connection is free, else at once. */
  close(): void {
    const { stream } = this.client.connection;
    if (this.isEnded || this.isBusy) return this.destroy();
    const timer = this.clock.setTimeout(() => stream.destroy(), CLOSE_MS, { background: true });
    void this.client.end().then(() => timer.cancel());
  }

  destroy(): void {
    this.client.connection.stream.destroy();
  }

  /**
   * Calls the function when the server is ready after the next statement, or when the connection has ended; at once if it has ended
   * already.
   */
  onNextReady(call: () => void): void {
    if (this.isEnded) call();
    else this.onceReady.push(call);
  }

  /** The server is ready for the next statement, which may be pipelined already. */
  private handleReady(): void {
    if (this.isEnded) return;
    this.pendingStatements--;
    // Only pipelined statements use the time.
    if (this.isBusy) this.lastReadyAt = this.clock.monotonic();
    this.callReadyListeners();
  }

  private callReadyListeners(): void {
    if (this.onceReady.length > 0) for (const call of this.onceReady.splice(0)) call();
  }

  /** Statements that are pipelined in the same turn of the event loop go out in one write. */
  private cork(): void {
    if (this.isCorked) return;
    this.isCorked = true;
    const { stream } = this.client.connection;
    stream.cork();
    process.nextTick(() => {
      this.isCorked = false;
      stream.uncork();
    });
  }

  private markEnded(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.pendingStatements = 0;
    this.client.connection.stream.destroy();
    this.callReadyListeners();
    this.onClosed?.();
  }

  private translateError(error: Error, hasBinds: boolean): Error {
    if (isFromServer(error)) return hasBinds ? withoutBinds(error) : error;
    return this.isEnded ? lostConnectionError(this.address, error) : error;
  }
}

function toConfig(settings: PostgresSettings, server: ServerUrl, timeouts: ServerTimeouts) {
  const { host, port, database, user } = server;
  return {
    host,
    port,
    database,
    user,
    // A function: without a password the package would read a file of passwords.
    password: () => readPassword(server),
    ssl: settings.tls,
    sslnegotiation: "postgres" as const,
    keepAlive: true,
    // Sends at once, also while the server is busy with an earlier statement.
    pipeline: true,
    client_encoding: "UTF8",
    application_name: settings.applicationName,
    types: createPostgresTypes(settings.bigints),
    ...(!settings.isPooled || server !== settings.server ? toSessionSettings(timeouts) : {}),
  };
}

/** The server enforces these limits. A limit of the client would leave the statement running. */
function toSessionSettings({ statement, lock, idleInTransaction }: ServerTimeouts) {
  const limits = {
    statement_timeout: statement,
    lock_timeout: lock,
    idle_in_transaction_session_timeout: idleInTransaction,
  };
  // The package drops a 0, which means no limit and must reach the server too.
  const options = Object.entries(limits).map(([name, ms]) => `-c ${name}=${ms}`);
  return { options: ["-c TimeZone=UTC", ...options].join(" ") };
}

function toResult(result: ServerResult | readonly ServerResult[]): DriverResult {
  const last = "rows" in result ? result : result.at(-1);
  if (last === undefined) return { rows: [] };
  const { command, rowCount, rows } = last;
  return WRITES.has(command) ? { rows, affected: BigInt(rowCount ?? 0) } : { rows };
}
