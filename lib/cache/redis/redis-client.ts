/** The parts of a `RedisCache` on the client's connection: its monitor, and the scripts that run over it. */
import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import { CacheUnavailableError, type CacheScript } from "../cache.js";
import { markHandled } from "../../runtime/mark-handled.js";
import { tracing } from "../../tracing/tracing.js";

const log = tracing.target("framework::cache::redis");

/** Keeps the last error of a connection, and logs when the connection is lost and when it is restored. */
export class RedisConnectionMonitor {
  private lastError: unknown = undefined;
  private state: "new" | "ready" | "lost" = "new";
  private isStopping = false;

  readonly #client: Redis;

  constructor(client: Redis) {
    this.#client = client;
    // Without a listener the client writes errors to the console.
    client.on("error", (error) => {
      this.lastError = error;
    });
    client.on("ready", () => this.ready());
    client.on("close", () => this.closed());
  }

  /** The error of a failed command. Without a connection it names the error of the connection, which is the cause. */
  toUnavailable(error: unknown): CacheUnavailableError {
    if (this.#client.status === "ready") return new CacheUnavailableError(error);
    const { lastError } = this;
    const reason = lastError instanceof Error ? lastError.message : "the connection was closed";
    return new CacheUnavailableError(lastError ?? error, `Redis cannot be reached: ${reason}`);
  }

  /** The next close is intended and is not logged. */
  expectClose(): void {
    this.isStopping = true;
  }

  private ready(): void {
    if (this.state === "lost") log.info("connection restored");
    this.state = "ready";
    this.isStopping = false;
    this.lastError = undefined;
  }

  private closed(): void {
    if (this.state !== "ready" || this.isStopping) return;
    this.state = "lost";
    log.warn("connection lost", this.lastError === undefined ? {} : { error: this.lastError });
  }
}

/** A Lua script. It is called by its digest; a server that does not know the digest, such as a restarted one, gets the source. */
export class RedisScript implements CacheScript {
  // Not `private`: printing the object would show the password of the client.
  readonly #client: Redis;
  readonly #monitor: RedisConnectionMonitor;
  private readonly digest: string;

  constructor(
    client: Redis,
    monitor: RedisConnectionMonitor,
    private readonly prefix: string,
    private readonly source: string,
  ) {
    this.#client = client;
    this.#monitor = monitor;
    this.digest = createHash("sha1").update(source).digest("hex");
  }

  run(keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const rest: (string | number)[] = [];
    for (const key of keys) rest.push(this.prefix + key);
    for (const arg of args) rest.push(arg);
    return markHandled(this.runByDigest(keys.length, rest));
  }

  private runByDigest(keys: number, rest: readonly (string | number)[]): Promise<unknown> {
    return this.#client.evalsha(this.digest, keys, ...rest).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith("NOSCRIPT")) return this.runSource(keys, rest);
      throw this.#monitor.toUnavailable(error);
    });
  }

  private async runSource(keys: number, rest: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.#client.call("EVAL", this.source, keys, ...rest);
    } catch (error) {
      throw this.#monitor.toUnavailable(error);
    }
  }
}
