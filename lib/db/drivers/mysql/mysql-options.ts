/** The options of `mysql()`, read once into settings that cannot be wrong. */
import type { SslOptions } from "mysql2";
import type { PoolOptions } from "../../pool/pool-options.js";
import { type ServerRules, type ServerSettings, toServerSettings } from "../server-settings.js";
import type { ServerUrl } from "../server-url.js";
import { checkOptionNames, type OptionNames } from "../../../errors/option-names.js";

export interface MysqlOptions {
  /** `mysql://user:password@host[:3306]/database[?ssl-mode=required]`, or `mariadb://…` */
  readonly url: string;
  /** Replaces the password of the URL; called before each connection, for tokens that expire. */
  readonly password?: () => string | Promise<string>;
  /**
   * TLS with the authorities of Node, or with these options, of which `verifyIdentity` (the name of the host) is on unless set. It takes
   * precedence over `ssl-mode` of the URL. Off unless set.
   */
  readonly tls?: boolean | SslOptions;
  readonly pool?: PoolOptions;
  /** Milliseconds after which the server ends a statement; 30 000 unless set, 0 means no limit. MySQL applies it to selects only. */
  readonly statementTimeoutMs?: number;
  /** Milliseconds that a statement waits for a lock, rounded up to seconds; 10 000 unless set. */
  readonly lockTimeoutMs?: number;
  /**
   * Milliseconds after which MariaDB ends a transaction without a statement, rounded up to seconds; 60 000 unless set, 0 means no limit.
   */
  readonly idleInTransactionTimeoutMs?: number;
  /** The URL for migrations. */
  readonly migrationUrl?: string;
  /** Integers above 2^53 - 1 are texts (`"large-as-string"`, the default), or all integers of 64 bits are (`"string"`). */
  readonly bigints?: MysqlBigints;
}

export type MysqlBigints = "large-as-string" | "string";

export interface MysqlSettings extends ServerSettings {
  readonly tls: SslOptions | undefined;
  readonly bigints: MysqlBigints;
}

const NAMES: OptionNames<MysqlOptions> = {
  url: true,
  password: true,
  tls: true,
  pool: true,
  statementTimeoutMs: true,
  lockTimeoutMs: true,
  idleInTransactionTimeoutMs: true,
  migrationUrl: true,
  bigints: true,
};

const RULES: ServerRules = {
  name: "mysql",
  protocols: ["mysql:", "mariadb:"],
  port: 3306,
  tlsParameter: "ssl-mode",
  minLockTimeoutMs: 1,
  // A year, which is the maximum of MariaDB.
  maxTimeoutMs: 31_536_000_000,
};

/** @throws FrameworkError `E_OPTION`, `E_DB_URL`, `E_DB_SETTING` */
export function toMysqlSettings(given: string | MysqlOptions): MysqlSettings {
  const options = typeof given === "string" ? { url: given } : given;
  checkOptionNames(options, NAMES, "mysql");
  const settings = toServerSettings(options, RULES);
  return { ...settings, tls: toTls(options.tls, settings.server), bigints: options.bigints ?? "large-as-string" };
}

function toTls(tls: MysqlOptions["tls"], server: ServerUrl): MysqlSettings["tls"] {
  // Without `verifyIdentity` the package checks the authority, and not the name of the host.
  if (typeof tls === "object") return { verifyIdentity: tls.rejectUnauthorized !== false, ...tls };
  if (tls === false) return undefined;
  if (tls === true || server.tls === "verified") return { verifyIdentity: true };
  return server.tls === "unverified" ? { rejectUnauthorized: false } : undefined;
}
