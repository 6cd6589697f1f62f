/** The options of `postgres()`, read once into settings that cannot be wrong. */
import type { ConnectionOptions as TlsOptions } from "node:tls";
import { checkOptionNames, type OptionNames } from "../../../errors/option-names.js";
import type { PoolOptions } from "../../pool/pool-options.js";
import { type ServerRules, type ServerSettings, toServerSettings } from "../server-settings.js";
import type { ServerUrl } from "../server-url.js";

export interface PostgresOptions {
  /** `postgres://user:password@host[:5432]/database[?sslmode=require]` */
  readonly url: string;
  /** Replaces the password of the URL; called before each connection, for tokens that expire. */
  readonly password?: () => string | Promise<string>;
  /** TLS with the authorities of Node, or with these options. It takes precedence over `sslmode` of the URL. Off unless set. */
  readonly tls?: boolean | TlsOptions;
  readonly pool?: PoolOptions;
  /** Milliseconds after which the server ends a statement; 30 000 unless set, 0 means no limit. */
  readonly statementTimeoutMs?: number;
  /** Milliseconds that a statement waits for a lock; 10 000 unless set, 0 means no limit. */
  readonly lockTimeoutMs?: number;
  /** Milliseconds after which the server ends a transaction without a statement; 60 000 unless set, 0 means no limit. */
  readonly idleInTransactionTimeoutMs?: number;
  /**
   * True if the URL leads to a pooler that changes the server connection between transactions, such as PgBouncer in its transaction mode.
   * Statements are then not prepared, and the three time limits must be set for the role, since such a pooler refuses them.
   */
  readonly transactionPooler?: boolean;
  /** The URL for migrations, past the pooler. */
  readonly migrationUrl?: string;
  /** The name of the connections on the server; `framework` unless set. */
  readonly applicationName?: string;
  /** The type of an integer of 64 bits: a number, which fails above 2^53 - 1 (the default), a bigint or a text. */
  readonly bigints?: PostgresBigints;
}

export type PostgresBigints = "number" | "bigint" | "string";

export interface PostgresSettings extends ServerSettings {
  readonly tls: false | TlsOptions;
  readonly isPooled: boolean;
  readonly applicationName: string;
  readonly bigints: PostgresBigints;
}

const NAMES: OptionNames<PostgresOptions> = {
  url: true,
  password: true,
  tls: true,
  pool: true,
  statementTimeoutMs: true,
  lockTimeoutMs: true,
  idleInTransactionTimeoutMs: true,
  transactionPooler: true,
  migrationUrl: true,
  applicationName: true,
  bigints: true,
};

const RULES: ServerRules = {
  name: "postgres",
  protocols: ["postgres:", "postgresql:"],
  port: 5432,
  tlsParameter: "sslmode",
  minLockTimeoutMs: 0,
  // The maximum of the server.
  maxTimeoutMs: 2_147_483_647,
};

/** @throws FrameworkError `E_OPTION`, `E_DB_URL`, `E_DB_SETTING` */
export function toPostgresSettings(given: string | PostgresOptions): PostgresSettings {
  const options = typeof given === "string" ? { url: given } : given;
  checkOptionNames(options, NAMES, "postgres");
  const settings = toServerSettings(options, RULES);
  return {
    ...settings,
    tls: toTls(options.tls, settings.server),
    isPooled: options.transactionPooler ?? false,
    applicationName: options.applicationName ?? "framework",
    bigints: options.bigints ?? "number",
  };
}

function toTls(tls: PostgresOptions["tls"], server: ServerUrl): PostgresSettings["tls"] {
  if (typeof tls === "object") return tls;
  if (tls === false) return false;
  if (tls === true || server.tls === "verified") return {};
  return server.tls === "unverified" ? { rejectUnauthorized: false } : false;
}
