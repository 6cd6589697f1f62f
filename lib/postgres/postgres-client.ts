/**
 * One client of the package `pg`: opened within the life of a signal, one statement at a time. After a failure it waits until the server
 * is ready again, which the package does not, so that the state of the transaction is known.
 */
import type { Client } from "pg";
import type { DriverResult, TransactionStatus } from "../db/driver.js";
import { connectFailure, lostConnection } from "./postgres-failure.js";
import { addressOf, type PostgresSettings, type PostgresTimeouts } from "./postgres-options.js";
import { pg } from "./postgres-package.js";
import { bindsOf, postgresTypes } from "./postgres-types.js";
import { isFromServer } from "./postgres-failure.js";
import type { ServerUrl } from "../db/server-url.js";
import type { Clock } from "../runtime/clock.js";

/** A polite goodbye may take as long. */
const GOODBYE_MS = 1000;

interface ServerResult {
  readonly command: string;
  readonly rowCount: number | null;
  readonly rows: DriverResult["rows"];
}

const WRITES: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);
const STATUSES = { I: "none", T: "open", E: "failed" } as const;

export class PostgresClient {
  private isReady = true;
  private isOver = false;
  private becameReady: (() => void) | undefined = undefined;

  private constructor(
    private readonly client: Client,
    private readonly address: string,
    private readonly clock: Clock,
  ) {
    client.connection.on("readyForQuery", () => this.ready());
    client.on("error", () => this.ended());
    client.on("end", () => this.ended());
    client.on("notification", () => this.onNotification?.());
  }

  /** @param closed called when the server has closed the connection @throws DriverError; the reason of the signal */
  static async open(
    settings: PostgresSettings,
    server: ServerUrl,
    timeouts: PostgresTimeouts,
    clock: Clock,
    signal: AbortSignal,
  ): Promise<PostgresClient> {
    const client = new pg.Client(configOf(settings, server, timeouts));
    // An error also rejects the promise of `connect`.
    client.on("error", () => {});
    const abort = (): void => void client.connection.stream.destroy();
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      await client.connect();
      signal.throwIfAborted();
      return new PostgresClient(client, addressOf(server), clock);
    } catch (error) {
      client.connection.stream.destroy();
      throw signal.aborted ? signal.reason : connectFailure(error, addressOf(server));
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Set by the user: called once, when the server has closed the connection. */
  onClosed: (() => void) | undefined = undefined;

  /** Set by a user that listens on one channel. */
  onNotification: (() => void) | undefined = undefined;

  get isClosed(): boolean {
    return this.isOver;
  }

  get isBusy(): boolean {
    return !this.isReady;
  }

  get status(): TransactionStatus {
    const status = this.client.getTransactionStatus();
    return status === null ? "none" : STATUSES[status];
  }

  /** For a cancel request. The types of the package leave these out. */
  get session(): { readonly processID: number; readonly secretKey: unknown } {
    return this.client as unknown as { readonly processID: number; readonly secretKey: unknown };
  }

  send(text: string, parameters: readonly unknown[] = [], name?: string): Promise<DriverResult> {
    return new Promise((resolve, reject) => {
      if (this.isOver) return reject(lostConnection(this.address, undefined));
      const settle = (error: Error | null | undefined, result: unknown): void => {
        // The package gives several results for several statements in one text.
        if (error === null || error === undefined) resolve(resultOf(result as ServerResult | readonly ServerResult[]));
        else this.whenReady(() => reject(this.errorOf(error)));
      };
      const values = bindsOf(parameters);
      this.isReady = false;
      this.client.query(new pg.Query({ text, values, name }, settle));
    });
  }

  /** Closes politely where the connection is free, else at once. */
  close(): void {
    const { stream } = this.client.connection;
    if (this.isOver || !this.isReady) return this.destroy();
    const timer = this.clock.setTimeout(() => stream.destroy(), GOODBYE_MS, { background: true });
    void this.client.end().then(() => timer.cancel());
  }

  destroy(): void {
    this.client.connection.stream.destroy();
  }

  private ready(): void {
    this.isReady = true;
    this.becameReady?.();
    this.becameReady = undefined;
  }

  private ended(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.client.connection.stream.destroy();
    this.ready();
    this.onClosed?.();
  }

  private whenReady(call: () => void): void {
    if (this.isReady) call();
    else this.becameReady = call;
  }

  private errorOf(error: Error): Error {
    return this.isOver && !isFromServer(error) ? lostConnection(this.address, error) : error;
  }
}

function configOf(settings: PostgresSettings, server: ServerUrl, timeouts: PostgresTimeouts) {
  const { host, port, database, user } = server;
  return {
    host,
    port,
    database,
    user,
    // A function: without a password the package would look for a file of passwords.
    password: server === settings.server ? settings.password : () => server.password,
    ssl: settings.tls,
    sslnegotiation: "postgres" as const,
    keepAlive: true,
    client_encoding: "UTF8",
    application_name: settings.applicationName,
    types: postgresTypes(settings.bigints),
    ...(!settings.isPooled || server !== settings.server ? sessionSettings(timeouts) : {}),
  };
}

/** The server keeps these limits itself. A limit of the client would leave the statement running. */
function sessionSettings({ statement, lock, idleInTransaction }: PostgresTimeouts) {
  const limits = {
    statement_timeout: statement,
    lock_timeout: lock,
    idle_in_transaction_session_timeout: idleInTransaction,
  };
  // The package leaves a 0 out, which stands for no limit and must reach the server too.
  const options = Object.entries(limits).map(([name, ms]) => `-c ${name}=${ms}`);
  return { options: ["-c TimeZone=UTC", ...options].join(" ") };
}

function resultOf(result: ServerResult | readonly ServerResult[]): DriverResult {
  const last = "rows" in result ? result : result.at(-1);
  if (last === undefined) return { rows: [] };
  const { command, rowCount, rows } = last;
  return WRITES.has(command) ? { rows, affected: BigInt(rowCount ?? 0) } : { rows };
}
