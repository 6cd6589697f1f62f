/**
 * The common part of the drivers for a server: a pool of connections for the application, and separate connections for migrations. The
 * driver of an engine opens the clients and implements the connections.
 *
 * Not for SQLite, which has no server.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { SubsystemHost } from "../../lifecycle/operations.js";
import type { MaybePromise } from "../maybe-promise.js";
import { type ConnectOptions, DatabaseDriver, type DriverConnection } from "../driver.js";
import { DriverError } from "../driver-error.js";
import { ConnectionPool } from "../pool/pool.js";
import type { ServerClient, ServerConnection, ServerConnectionReleaser } from "./server-connection.js";
import type { ServerSettings, ServerTimeouts } from "./server-settings.js";
import { formatAddress, type ServerUrl } from "./server-url.js";
import { createStandaloneHost } from "../standalone-host.js";

/** The grace period for running work when the application stops. */
const STOP_GRACE_MS = 2000;
/** A connection that was used without a failure within this time shows that the server works. */
const PROBE_TRUST_MS = 1000;

/** The time for the attempts to connect at the start: a server that restarts or pauses for a moment must not fail it. */
const START_LIMIT_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1000;
/** The codes of Node, the drivers and the engines for a server that is unreachable, starts, stops, or closes the connection. */
const TRANSIENT_CODES =
  /^(?:E(?:CONN\w+|PIPE|TIMEDOUT|HOST\w+|NET\w+|AI_AGAIN|NOTFOUND)|ENOENT|CONNECT(?:_TIMEOUT|ION_CLOSED)|57P0[123]|PROTOCOL_CONNECTION_LOST|ER_SERVER_SHUTDOWN)$/;

/** The use of a connection: a migration may have a separate address, and has no time limit for a statement. */
export type ConnectionUse = "application" | "migration";

export abstract class ServerDriver<
  Settings extends ServerSettings,
  Client extends ServerClient,
  Connection extends ServerConnection & DriverConnection,
> extends DatabaseDriver {
  readonly address: string;
  protected host: SubsystemHost = createStandaloneHost("database");
  /** True if the reads of one request may share a connection. */
  protected readonly canBatch: boolean = false;
  // Not `private`: a printed driver would show the password, which the clients have.
  #openedPool: ConnectionPool<Connection> | undefined = undefined;
  private lastUse = Number.NEGATIVE_INFINITY;

  constructor(protected readonly settings: Settings) {
    super();
    this.address = formatAddress(settings.server);
  }

  /** Rejects when the signal aborts, and leaves no socket behind. */
  protected abstract openClient(server: ServerUrl, timeouts: ServerTimeouts, signal: AbortSignal): Promise<Client>;

  protected abstract newConnection(
    use: ConnectionUse,
    client: Client,
    releaser: ServerConnectionReleaser<Connection>,
  ): Connection;

  override prepare(host: SubsystemHost): void {
    this.host = host;
    this.#openedPool = undefined;
  }

  /**
   * Retries after a transient failure. A refused login or an absent database fails at once. The pauses use the time of the machine, because
   * the clock of a test may stand still.
   */
  override async start(): Promise<void> {
    const lastTryAt = performance.now() + START_LIMIT_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        return (await this.pool.take()).release();
      } catch (error) {
        if (!isTransient(error) || performance.now() + pauseMs > lastTryAt) throw error;
      }
      await pause(pauseMs);
    }
  }

  override stop(): Promise<void> {
    return this.pool.stop(STOP_GRACE_MS);
  }

  /** If all connections of the pool are in use, the server is not at fault. */
  override async probe(signal: AbortSignal): Promise<void> {
    if (this.host.clock.monotonic() - this.lastUse < PROBE_TRUST_MS) return;
    const connection = await this.pool.take({ signal });
    try {
      await connection.query({ sql: "select 1", parameters: [], isRead: true, signal });
    } finally {
      connection.release();
    }
  }

  override connect(options: ConnectOptions): MaybePromise<Connection> {
    if (options.isMigration === true) return this.connectForMigration(options.signal);
    return this.pool.takeNow() ?? this.pool.take(options, this.canBatch ? options.batch : undefined);
  }

  protected open(use: ConnectionUse, signal: AbortSignal): Promise<Client> {
    const { server, migrationServer, timeouts } = this.settings;
    if (use === "application") return this.openClient(server, timeouts, signal);
    return this.openClient(migrationServer, { ...timeouts, statement: 0, idleInTransaction: 0 }, signal);
  }

  /** A client outside of the pool, whose users may wait for this client. The time limit is that of the pool. */
  protected async openAlone(use: ConnectionUse, signal?: AbortSignal): Promise<Client> {
    const { connectMs } = this.settings.pool;
    const limit = new AbortController();
    const address = use === "migration" ? formatAddress(this.settings.migrationServer) : this.address;
    const text = `no connection to ${address} within ${connectMs} ms`;
    const abort = (): void => limit.abort(new DriverError({ kind: "connection", code: "CONNECT_TIMEOUT", text }));
    const timer = this.host.clock.setTimeout(abort, connectMs);
    try {
      return await this.open(use, signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]));
    } finally {
      timer.cancel();
    }
  }

  private get pool(): ConnectionPool<Connection> {
    return (this.#openedPool ??= this.newPool());
  }

  private newPool(): ConnectionPool<Connection> {
    const { settings, host } = this;
    const pool = new ConnectionPool<Connection>(settings.pool, host, this.address, async (signal) =>
      this.newConnection("application", await this.open("application", signal), releaser),
    );
    const releaser: ServerConnectionReleaser<Connection> = {
      release: (connection) => {
        if (connection.isReusable) this.lastUse = host.clock.monotonic();
        pool.release(connection);
      },
      discard: (connection) => pool.discard(connection),
    };
    return pool;
  }

  private async connectForMigration(signal: AbortSignal | undefined): Promise<Connection> {
    const client = await this.openAlone("migration", signal);
    const close = (): void => client.close();
    return this.newConnection("migration", client, { release: close, discard: close });
  }
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof DriverError)) return false;
  const { kind, code = "" } = error.failure;
  return kind === "overloaded" || TRANSIENT_CODES.test(code);
}
