/** The options of `postgres()`, read once into settings that cannot be wrong. */
import type { ConnectionOptions as TlsOptions } from "node:tls";
import { checkOptionNames, type OptionNames } from "../../../errors/option-names.js";
import { checkNumber, type PoolLimits, toPoolLimits, type PoolOptions } from "../../pool/pool-options.js";
import { parseServerUrl, getPassword, type ServerUrl } from "../server-url.js";

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

export interface PostgresSettings {
  readonly server: ServerUrl;
  readonly migrationServer: ServerUrl;
  readonly password: () => string | Promise<string>;
  readonly tls: false | TlsOptions;
  readonly pool: PoolLimits;
  readonly timeouts: PostgresTimeouts;
  readonly isPooled: boolean;
  readonly applicationName: string;
  readonly bigints: PostgresBigints;
}

/** In milliseconds; 0 means no limit. */
export interface PostgresTimeouts {
  readonly statement: number;
  readonly lock: number;
  readonly idleInTransaction: number;
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

const RULES = { name: "postgres", protocols: ["postgres:", "postgresql:"], port: 5432, tlsParameter: "sslmode" };

/** The maximum of the server. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** @throws FrameworkError `E_OPTION`, `E_DB_URL`, `E_DB_SETTING` */
export function toPostgresSettings(given: string | PostgresOptions): PostgresSettings {
  const options = typeof given === "string" ? { url: given } : given;
  checkOptionNames(options, NAMES, "postgres");
  const server = parseServerUrl(options.url, RULES);
  const migrationServer = options.migrationUrl === undefined ? server : parseServerUrl(options.migrationUrl, RULES);
  return {
    server,
    migrationServer,
    password: getPassword(options.password, server, RULES),
    tls: toTls(options.tls, server),
    pool: toPoolLimits(options.pool, "pool of postgres"),
    timeouts: readTimeouts(options),
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

function readTimeouts(options: PostgresOptions): PostgresTimeouts {
  const { statementTimeoutMs = 30_000, lockTimeoutMs = 10_000, idleInTransactionTimeoutMs = 60_000 } = options;
  for (const [name, value] of Object.entries({ statementTimeoutMs, lockTimeoutMs, idleInTransactionTimeoutMs }))
    checkNumber("postgres", name, value, 0, MAX_TIMEOUT_MS);
  return { statement: statementTimeoutMs, lock: lockTimeoutMs, idleInTransaction: idleInTransactionTimeoutMs };
}
