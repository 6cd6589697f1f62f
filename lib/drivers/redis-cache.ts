/**
 * The `Cache` on Redis (6.2 or newer); the entry point `@stagecraft/framework/cache/redis`. Needs the package `ioredis`, version
 * 5.4.1 or newer, installed beside the framework.
 *
 * Waiting is bounded: a command is answered within `commandTimeoutMs` or fails; nothing is queued while there is no connection; a
 * server that stays silent is left and looked for anew; what was sent is never sent again. Every such failure is a
 * `CacheUnavailableError`.
 *
 * `run()` starts it where it is provided, or where a rate limit keeps its buckets in it. Behind `serve` or `callback`, which start no
 * subsystems, call `start()` yourself.
 *
 * @example
 * provide(Cache).useFactory(() => new RedisCache({ url: "redis://cache.internal:6379", namespace: "shop" }));
 */
import type { Redis as Client } from "ioredis";
import { markHandled } from "../runtime/mark-handled.js";
import { missingPeer, expectPeer } from "../errors/optional-package.js";
import { expectTtl, readCacheValue, writeCacheValue, Cache, type CacheScript } from "../lifecycle/cache.js";
import { clientSettings, readNamespace, readUrl, type RedisCacheOptions } from "./redis-cache-options.js";
import { RedisScript } from "./redis-script.js";
import { RedisWatch } from "./redis-watch.js";

// Before 5.4 the client cannot leave a server that stays silent; 5.4.0 writes a line to the console for every reply.
const PEER = { entry: "@stagecraft/framework/cache/redis", name: "ioredis", from: "5.4.1", install: "ioredis@6" };

expectPeer(PEER);
const { Redis } = await import("ioredis").catch(missingPeer(PEER.entry, PEER.name, PEER.install));

export class RedisCache extends Cache {
  override readonly name: string;
  readonly namespace: string;
  private readonly client: Client;
  private readonly watch: RedisWatch;

  /** Opens nothing. @throws FrameworkError `E_CACHE_NAMESPACE`, `E_CACHE_URL`, `E_CACHE_TIMEOUT` */
  constructor(options: RedisCacheOptions = {}) {
    super();
    this.name = options.name ?? "RedisCache";
    this.namespace = readNamespace(options.namespace);
    const url = readUrl(options);
    const settings = clientSettings(options);
    this.client = url === undefined ? new Redis(settings) : new Redis(url, settings);
    this.watch = new RedisWatch(this.client);
  }

  /** Connects. @throws CacheUnavailableError where there is no server, or one that does not let us in */
  override async start(): Promise<void> {
    try {
      await this.client.connect();
    } catch (error) {
      this.client.disconnect();
      throw this.watch.unavailable(error);
    }
  }

  /** Lets commands under way finish, and disconnects. */
  override async stop(): Promise<void> {
    this.watch.stopping();
    if (this.client.status === "ready") await this.client.quit().catch(() => {});
    this.client.disconnect();
  }

  override async probe(): Promise<void> {
    await this.ask((client) => client.ping());
  }

  override get(key: string): Promise<unknown> {
    return markHandled(this.read(key));
  }

  override set(key: string, value: unknown, ttlMs: number): Promise<void> {
    return markHandled(this.write(key, value, ttlMs));
  }

  override delete(key: string): Promise<boolean> {
    return markHandled(this.remove(key));
  }

  override script(source: string): CacheScript {
    return new RedisScript(this.client, this.watch, `${this.namespace}:`, source);
  }

  private async read(key: string): Promise<unknown> {
    const text = await this.ask((client) => client.get(this.keyOf(key)));
    return text === null ? undefined : readCacheValue(key, text);
  }

  private async write(key: string, value: unknown, ttlMs: number): Promise<void> {
    expectTtl(ttlMs);
    const text = writeCacheValue(key, value);
    await this.ask((client) => client.set(this.keyOf(key), text, "PX", ttlMs));
  }

  private async remove(key: string): Promise<boolean> {
    return (await this.ask((client) => client.del(this.keyOf(key)))) > 0;
  }

  /** Values live apart from what scripts keep, so that no key of the one can be a key of the other. */
  private keyOf(key: string): string {
    return `${this.namespace}:cache:${key}`;
  }

  private async ask<T>(command: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await command(this.client);
    } catch (error) {
      throw this.watch.unavailable(error);
    }
  }
}
