/** A Lua script that is known to the server by its digest, and taught to it where it is not (a new server, a restarted one). */
import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import { markHandled } from "../runtime/mark-handled.js";
import { type CacheScript, CacheUnavailableError } from "../lifecycle/cache.js";
import { tracing } from "../tracing/tracing.js";

export class RedisScript implements CacheScript {
  private readonly digest: string;

  constructor(
    private readonly client: Redis,
    private readonly watch: RedisConnectionMonitor,
    private readonly prefix: string,
    private readonly source: string,
  ) {
    this.digest = createHash("sha1").update(source).digest("hex");
  }

  run(keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const rest: (string | number)[] = [];
    for (const key of keys) rest.push(this.prefix + key);
    for (const arg of args) rest.push(arg);
    return markHandled(this.evaluate(keys.length, rest));
  }

  private evaluate(keys: number, rest: readonly (string | number)[]): Promise<unknown> {
    return this.client.evalsha(this.digest, keys, ...rest).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith("NOSCRIPT")) return this.teach(keys, rest);
      throw this.watch.unavailable(error);
    });
  }

  private async teach(keys: number, rest: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.client.call("EVAL", this.source, keys, ...rest);
    } catch (error) {
      throw this.watch.unavailable(error);
    }
  }
}

/** Follows a client's connection: remembers why it failed last, and says once when it is lost and once when it is back. */
const log = tracing.target("framework::cache::redis");

export class RedisConnectionMonitor {
  private lastError: unknown = undefined;
  private state: "new" | "ready" | "lost" = "new";
  private isStopping = false;

  constructor(private readonly client: Redis) {
    // Without a listener the client writes errors to the console.
    client.on("error", (error) => {
      this.lastError = error;
    });
    client.on("ready", () => this.ready());
    client.on("close", () => this.closed());
  }

  /** What a failed command is reported as. Without a connection, why there is none says more than that it could not be sent. */
  unavailable(error: unknown): CacheUnavailableError {
    if (this.client.status === "ready") return new CacheUnavailableError(error);
    const { lastError } = this;
    const reason = lastError instanceof Error ? lastError.message : "the connection was closed";
    return new CacheUnavailableError(lastError ?? error, `Redis cannot be reached: ${reason}`);
  }

  /** What follows is meant. */
  stopping(): void {
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
