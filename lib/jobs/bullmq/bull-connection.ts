/**
 * The connection for the commands of one process. Workers have separate connections. A command waits a few seconds for a connection and for
 * its reply, and then fails, because neither a request that dispatches a job nor the stop of the process may wait until Redis is back. A
 * command that failed after it was sent may have been carried out.
 */
import { once } from "node:events";
import type { Redis } from "ioredis";
import { FrameworkError, UnavailableError } from "../../errors/framework-error.js";
import { isReadOnly, openClient } from "../../cache/redis/redis-connection.js";
import { type Clock, OVERDUE, within } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";

const log = tracing.target("framework::jobs::redis");

export const COMMAND_LIMIT_MS = 5000;

/** The options of every client. BullMQ waits in blocking commands, which must survive any number of reconnections. */
export const CLIENT_OPTIONS = { maxRetriesPerRequest: null, reconnectOnError: isReadOnly } as const;

/** The options of the client for commands, in which no command waits for a connection. */
export const COMMAND_OPTIONS = { lazyConnect: true, enableOfflineQueue: false } as const;

export class BullConnection {
  private wasLost = false;
  private isClosed = false;
  private lastError: unknown;
  private opening: Promise<unknown> | undefined = undefined;

  constructor(
    private readonly client: Redis,
    private readonly clock: Clock,
  ) {
    // Without a listener the client writes errors to the console.
    client.on("error", (error) => (this.lastError = error));
    client.on("ready", () => this.restored());
    client.on("close", () => this.lost());
  }

  /** @throws UnavailableError `E_JOBS_REDIS`; FrameworkError `E_REDIS_CLUSTER` */
  async open(): Promise<void> {
    try {
      await openClient(this.client, this.clock, "BullJobs");
    } catch (error) {
      this.close();
      throw error instanceof FrameworkError ? error : unavailable(error);
    }
  }

  close(): void {
    this.isClosed = true;
    this.client.disconnect();
  }

  /** @throws UnavailableError `E_JOBS_REDIS` after some seconds without a connection */
  async waitForClient(): Promise<Redis> {
    const { client } = this;
    if (this.isReady()) return client;
    if (!this.isClosed) await within(this.clock, COMMAND_LIMIT_MS, this.waitForReady());
    if (this.isReady()) return client;
    throw unavailable(this.lastError);
  }

  /** All waiting dispatches share one promise. With a listener for each dispatch, Node would warn of a leak. */
  private waitForReady(): Promise<unknown> {
    this.opening ??= once(this.client, "ready")
      .catch(() => {})
      .finally(() => (this.opening = undefined));
    return this.opening;
  }

  /**
   * Runs the commands within one limit for all of them, because a limit of the client is a timer for each command.
   *
   * @throws UnavailableError `E_JOBS_REDIS`
   */
  async run<T>(commands: (client: Redis) => Promise<T>, limitMs = COMMAND_LIMIT_MS): Promise<T> {
    const client = this.isReady() ? this.client : await this.waitForClient();
    let result: T | typeof OVERDUE;
    try {
      result = await within(this.clock, limitMs, commands(client));
    } catch (error) {
      throw this.isReady() ? error : unavailable(error);
    }
    if (result === OVERDUE) throw unavailable(this.lastError);
    return result;
  }

  /**
   * The client keeps the status "ready" for a moment after the connection has ended. In that moment it fails each command with an internal
   * error.
   */
  isReady(): boolean {
    return this.client.status === "ready" && this.client.stream.writable;
  }

  private restored(): void {
    if (this.wasLost) log.info("connection restored");
    this.wasLost = false;
  }

  private lost(): void {
    if (this.wasLost || this.isClosed) return;
    this.wasLost = true;
    log.warn("connection lost", this.lastError === undefined ? {} : { error: this.lastError });
  }
}

function unavailable(cause: unknown): UnavailableError {
  return new UnavailableError("Redis does not respond: a job that is dispatched now may not be queued.", {
    code: "E_JOBS_REDIS",
    cause,
  });
}

/**
 * Returns a list of the client and of each duplicate that BullMQ creates of it later, such as the client for its blocking command. BullMQ
 * reports the errors of these clients until it closes them. The empty listeners keep later errors off the console.
 */
export function trackDuplicates(client: Redis): readonly Redis[] {
  const all = [client.on("error", () => {})];
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (options) => {
    const copy = duplicate(options);
    all.push(copy.on("error", () => {}));
    return copy;
  };
  return all;
}

/**
 * Closes the client for good: BullMQ reconnects a client that waited too long, so each new connection is closed. A client that waits for
 * its next reconnection drops it and leaves its callers pending, so it connects once more.
 */
export function closeClient(client: Redis): void {
  client.on("connect", () => client.disconnect());
  const isReconnecting = client.status === "reconnecting";
  client.disconnect();
  if (isReconnecting) client.connect().catch(() => {});
}
