/** How a `RedisCache` reaches its server, and the settings of the client that the limits on waiting rest on. */
import type { RedisOptions } from "ioredis";
import { LONGEST_TIMER_MS } from "../runtime/clock.js";
import { FrameworkError } from "../errors/framework-error.js";

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
