/** Follows a client's connection: remembers why it failed last, and says once when it is lost and once when it is back. */
import type { Redis } from "ioredis";
import { tracing } from "../tracing/tracing.js";
import { CacheUnavailableError } from "../lifecycle/cache.js";

const log = tracing.target("framework::cache::redis");

export class RedisWatch {
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
