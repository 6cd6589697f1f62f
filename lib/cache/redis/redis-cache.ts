/**
 * The `Cache` on Redis (6.2 or newer, no cluster); the entry point `@stagecraft/framework/cache/redis`. It needs the package `ioredis`,
 * version 5.4.1 or newer.
 *
 * Waiting is bounded. A command gets its reply within `commandTimeoutMs` or fails. Without a connection a command fails at once instead of
 * waiting in a queue. If its server stays silent, a connection is closed and opened again. A command is never sent twice. Each of these
 * failures is a `CacheUnavailableError`.
 *
 * `run()` starts a cache that is provided, or that keeps the buckets of a rate limit. `serve` and `callback` start no subsystems: call
 * `start()` yourself.
 *
 * @example
 * provide(Cache).useFactory(() => new RedisCache({ url: "redis://cache.internal:6379", namespace: "shop" }));
 */
import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import type { Redis as Client, RedisOptions } from "ioredis";
import { FrameworkError } from "../../errors/framework-error.js";
import { expectPeer, requirePeer } from "../../errors/optional-package.js";
import { Cache, type CacheScript } from "../cache.js";
import { MAX_TIMER_MS } from "../../runtime/clock.js";
import { markHandled } from "../../runtime/mark-handled.js";
import { RedisConnectionMonitor, RedisScript } from "./redis-client.js";
import { isReadOnly, openClient } from "./redis-connection.js";
import { createSetupError } from "../../errors/setup-error.js";
import { checkWholeNumber } from "../../errors/whole-number.js";
import { RedisEntries } from "./redis-entries.js";

// Before 5.4 the client cannot close the connection of a silent server. 5.4.0 writes a line to the console for every reply.
const PEER = { entry: "@stagecraft/framework/cache/redis", name: "ioredis", from: "5.4.1", install: "ioredis@6" };

expectPeer(PEER);
const { Redis } = requirePeer(PEER) as typeof import("ioredis");

const DEFAULT_COMMAND_TIMEOUT_MS = 500;
const DEFAULT_URL = "redis://127.0.0.1:6379";
const CONNECT_TIMEOUT_MS = 2000;
const MAX_RECONNECT_DELAY_MS = 1000;

/** The options of the client. `replyMapping` is missing, because this cache reads the replies in their default form. */
type ClientOptions = Omit<RedisOptions, "replyMapping">;

export interface RedisCacheOptions {
  /** `redis://[[user]:password@]host[:port][/db]`, `rediss://…` over TLS; the default is `redis://127.0.0.1:6379`. */
  readonly url?: string;
  /**
   * The prefix of every key: letters, digits, `-`, `_` and `.`; the default is `framework`. Each application on a shared server needs a
   * separate prefix.
   */
  readonly namespace?: string;
  /** The name in health checks and events; the default is `RedisCache`. */
  readonly name?: string;
  /** The time limit of a command, in milliseconds; the default is 500. */
  readonly commandTimeoutMs?: number;
  /** Further options of the client, such as `tls` or `sentinels`. They cannot change the limits on waiting. */
  readonly client?: ClientOptions;
}

const NAMES: OptionNames<RedisCacheOptions> = {
  url: true,
  namespace: true,
  name: true,
  commandTimeoutMs: true,
  client: true,
};

export class RedisCache extends Cache {
  override readonly name: string;
  readonly namespace: string;
  protected readonly entries: RedisEntries;
  // Not `private`: printing the object would show the password of the client.
  readonly #client: Client;
  readonly #monitor: RedisConnectionMonitor;

  /** Opens no connection. @throws FrameworkError `E_CACHE_NAMESPACE`, `E_CACHE_URL`, `E_CACHE_TIMEOUT` */
  constructor(options: RedisCacheOptions = {}) {
    super();
    checkOptionNames(options, NAMES, "new RedisCache");
    this.name = options.name ?? "RedisCache";
    this.namespace = readNamespace(options.namespace);
    const url = readUrl(options);
    const settings = clientSettings(options);
    this.#client = url === undefined ? new Redis(settings) : new Redis(url, settings);
    this.#monitor = new RedisConnectionMonitor(this.#client);
    this.entries = new RedisEntries(`${this.namespace}:`, (source) => this.prepareScript(source));
  }

  /**
   * Connects, and tries again for 10 seconds.
   *
   * @throws CacheUnavailableError if no server responds, or it refuses the login; FrameworkError `E_REDIS_CLUSTER` for a server of a
   * cluster
   */
  override async start(): Promise<void> {
    try {
      await openClient(this.#client, this.clock, "RedisCache");
    } catch (error) {
      throw error instanceof FrameworkError ? error : this.#monitor.toUnavailable(error);
    }
  }

  /** Waits for the commands in flight, and disconnects. */
  override async stop(): Promise<void> {
    this.#monitor.expectClose();
    if (this.#client.status === "ready") await this.#client.quit().catch(() => {});
    this.#client.disconnect();
  }

  override async probe(): Promise<void> {
    await this.request((client) => client.ping());
  }

  override script(source: string): CacheScript {
    const script = this.prepareScript(source);
    return { run: (keys, args) => markHandled(this.report.run("script", () => script.run(keys, args))) };
  }

  /** A script that runs as a part of another operation. */
  private prepareScript(source: string): CacheScript {
    return new RedisScript(this.#client, this.#monitor, `${this.namespace}:`, source);
  }

  private async request<T>(command: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await command(this.#client);
    } catch (error) {
      throw this.#monitor.toUnavailable(error);
    }
  }
}

/** @throws FrameworkError `E_CACHE_NAMESPACE` */
function readNamespace(namespace = "framework"): string {
  if (/^[\w.-]+$/.test(namespace)) return namespace;
  throw createSetupError(
    "E_CACHE_NAMESPACE",
    `${JSON.stringify(namespace)} cannot be the namespace of a cache: use letters, digits, "-", "_" and "."`,
  );
}

/** @throws FrameworkError `E_CACHE_URL`, without the URL, which may contain a password */
function readUrl({ url, client }: RedisCacheOptions): string | undefined {
  if (url === undefined) return client === undefined ? DEFAULT_URL : undefined;
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  if (protocol === "redis:" || protocol === "rediss:") return url;
  throw createSetupError("E_CACHE_URL", "the URL of a Redis cache starts with redis:// or rediss://");
}

/** @throws FrameworkError `E_CACHE_TIMEOUT` */
function clientSettings({ client, commandTimeoutMs }: RedisCacheOptions): ClientOptions {
  const wanted = commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS;
  const commandTimeout = checkWholeNumber("E_CACHE_TIMEOUT", "commandTimeoutMs", wanted, [1, MAX_TIMER_MS]);
  return {
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: reconnectDelay,
    ...client,
    lazyConnect: true,
    commandTimeout,
    // Closes the connection of a silent server, so that later commands fail at once.
    socketTimeout: Math.min(commandTimeout * 2, MAX_TIMER_MS),
    // A command without a connection fails at once. A command without a reply fails and is not sent again, because it may have been
    // executed.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    reconnectOnError: isReadOnly,
  };
}

/** Exponential, with a random part, so that many clients do not reconnect at the same moment. */
function reconnectDelay(attempt: number): number {
  return Math.min(50 * 2 ** Math.min(attempt - 1, 10), MAX_RECONNECT_DELAY_MS) * (0.75 + Math.random() / 4);
}
