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
import type { RedisOptions, Redis as Client } from "ioredis";
import { LONGEST_TIMER_MS } from "../runtime/clock.js";
import { FrameworkError } from "../errors/framework-error.js";
import { markHandled } from "../runtime/mark-handled.js";
import { missingPeer, expectPeer } from "../errors/optional-package.js";
import { expectTtl, readCacheValue, writeCacheValue, Cache, type CacheScript } from "../lifecycle/cache.js";
import { RedisScript, RedisConnectionMonitor } from "./redis-client.js";

// How a `RedisCache` reaches its server, and the settings of the client that the limits on waiting rest on.

/** The shape of replies is the driver's business. */
export type ClientOptions = Omit<RedisOptions, "replyMapping">;

export interface RedisCacheOptions {
  /** `redis://[[user]:password@]host[:port][/db]`, `rediss://…` over TLS; `redis://127.0.0.1:6379` unless given. */
  readonly url?: string;
  /** Before every key: letters, digits, `-`, `_`, `.`; `framework` unless given. Applications on one server need one each. */
  readonly namespace?: string;
  /** Tells two caches of an application apart in its health checks and events; `RedisCache` unless given. */
  readonly name?: string;
  /** Milliseconds until a command that is not answered fails; 500 unless given. */
  readonly commandTimeoutMs?: number;
  /** More for the client, such as `tls` or `sentinels`; the limits on waiting stay as they are. */
  readonly client?: ClientOptions;
}

export const DEFAULT_COMMAND_TIMEOUT_MS = 500;
const DEFAULT_URL = "redis://127.0.0.1:6379";
const CONNECT_TIMEOUT_MS = 2000;
const LONGEST_PAUSE_MS = 1000;

/** @throws FrameworkError `E_CACHE_NAMESPACE` */
export function readNamespace(namespace = "framework"): string {
  if (/^[\w.-]+$/.test(namespace)) return namespace;
  throw new FrameworkError(
    `${JSON.stringify(namespace)} cannot be the namespace of a cache: use letters, digits, "-", "_" and "."`,
    { code: "E_CACHE_NAMESPACE" },
  );
}

/** @throws FrameworkError `E_CACHE_URL`, which does not repeat the URL: there may be a password in it */
export function readUrl({ url, client }: RedisCacheOptions): string | undefined {
  if (url === undefined) return client === undefined ? DEFAULT_URL : undefined;
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  if (protocol === "redis:" || protocol === "rediss:") return url;
  throw new FrameworkError("the URL of a Redis cache begins with redis:// or rediss://", { code: "E_CACHE_URL" });
}

/** @throws FrameworkError `E_CACHE_TIMEOUT` */
export function clientSettings({ client, commandTimeoutMs }: RedisCacheOptions): ClientOptions {
  const commandTimeout = commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS;
  if (!Number.isInteger(commandTimeout) || commandTimeout < 1 || commandTimeout > LONGEST_TIMER_MS) {
    throw new FrameworkError(
      `a command takes a whole number of milliseconds from 1 to ${LONGEST_TIMER_MS}, not ${String(commandTimeout)}`,
      { code: "E_CACHE_TIMEOUT" },
    );
  }
  return {
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: pauseBefore,
    ...client,
    lazyConnect: true,
    commandTimeout,
    // A server that accepts and stays silent is given up, so that what is asked meanwhile fails at once.
    socketTimeout: Math.min(commandTimeout * 2, LONGEST_TIMER_MS),
    // What cannot be sent now fails now; what was sent and not answered fails, and is not sent again: it may have been done.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // After a failover the old primary answers that it only reads.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  };
}

function pauseBefore(attempt: number): number {
  return Math.min(50 * 2 ** Math.min(attempt - 1, 10), LONGEST_PAUSE_MS) * (0.75 + Math.random() / 4);
}

// Before 5.4 the client cannot leave a server that stays silent; 5.4.0 writes a line to the console for every reply.
const PEER = { entry: "@stagecraft/framework/cache/redis", name: "ioredis", from: "5.4.1", install: "ioredis@6" };

expectPeer(PEER);
const { Redis } = await import("ioredis").catch(missingPeer(PEER.entry, PEER.name, PEER.install));

export class RedisCache extends Cache {
  override readonly name: string;
  readonly namespace: string;
  private readonly client: Client;
  private readonly watch: RedisConnectionMonitor;

  /** Opens nothing. @throws FrameworkError `E_CACHE_NAMESPACE`, `E_CACHE_URL`, `E_CACHE_TIMEOUT` */
  constructor(options: RedisCacheOptions = {}) {
    super();
    this.name = options.name ?? "RedisCache";
    this.namespace = readNamespace(options.namespace);
    const url = readUrl(options);
    const settings = clientSettings(options);
    this.client = url === undefined ? new Redis(settings) : new Redis(url, settings);
    this.watch = new RedisConnectionMonitor(this.client);
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
