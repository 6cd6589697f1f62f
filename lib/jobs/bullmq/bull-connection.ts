/**
 * The connection for the commands of one process; workers have connections of their own. A command waits a few seconds for a connection
 * and for its answer, then it fails: a request that dispatches a job must not wait until Redis is back, and neither must the end of the
 * process. A command that failed after it was sent may have been carried out.
 */
import { once } from "node:events";
import type { Redis } from "ioredis";
import { FrameworkError, UnavailableError } from "../../errors/framework-error.js";
import { isReadOnly, openClient } from "../../cache/redis/redis-connection.js";
import { type Clock, OVERDUE, within } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";

const log = tracing.target("framework::jobs::redis");

export const COMMAND_LIMIT_MS = 5000;

/** What every client needs: BullMQ waits in blocking commands, which must not be given up. */
export const CLIENT_OPTIONS = { maxRetriesPerRequest: null, reconnectOnError: isReadOnly } as const;

/** What the client needs so that no command waits in it for a connection. */
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
  async ready(): Promise<Redis> {
    const { client } = this;
    if (this.isReady()) return client;
    if (!this.isClosed) await within(this.clock, COMMAND_LIMIT_MS, this.nextReady());
    if (this.isReady()) return client;
    throw unavailable(this.lastError);
  }

  /** Shared by the dispatches that wait: a listener for each would make Node warn of a leak. */
  private nextReady(): Promise<unknown> {
    this.opening ??= once(this.client, "ready")
      .catch(() => {})
      .finally(() => (this.opening = undefined));
    return this.opening;
  }

  /** One limit for all commands together: a limit of the client is a timer for each. @throws UnavailableError `E_JOBS_REDIS` */
  async run<T>(commands: (client: Redis) => Promise<T>, limitMs = COMMAND_LIMIT_MS): Promise<T> {
    const client = this.isReady() ? this.client : await this.ready();
    let result: T | typeof OVERDUE;
    try {
      result = await within(this.clock, limitMs, commands(client));
    } catch (error) {
      throw this.isReady() ? error : unavailable(error);
    }
    if (result === OVERDUE) throw unavailable(this.lastError);
    return result;
  }

  /** The client keeps its status for a moment after the connection has ended, and refuses a command by an error of its own then. */
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
  return new UnavailableError("Redis does not answer, so the job may not be queued.", { code: "E_JOBS_REDIS", cause });
}

/**
 * The client, and those that BullMQ makes of it later, such as the one for its blocking command. BullMQ reports their errors until it closes
 * them; afterwards the client would write them to the console.
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
 * For good: BullMQ connects a client again that waited too long. A client that waits for its next try forgets the try and does not tell its
 * callers of the end, so it tries once more.
 */
export function closeClient(client: Redis): void {
  client.on("connect", () => client.disconnect());
  const isReconnecting = client.status === "reconnecting";
  client.disconnect();
  if (isReconnecting) client.connect().catch(() => {});
}
