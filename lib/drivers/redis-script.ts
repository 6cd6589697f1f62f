/** A Lua script that is known to the server by its digest, and taught to it where it is not (a new server, a restarted one). */
import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import { markHandled } from "../runtime/mark-handled.js";
import type { CacheScript } from "../lifecycle/cache.js";
import type { RedisWatch } from "./redis-watch.js";

export class RedisScript implements CacheScript {
  private readonly digest: string;

  constructor(
    private readonly client: Redis,
    private readonly watch: RedisWatch,
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
