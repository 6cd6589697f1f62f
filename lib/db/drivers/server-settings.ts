/** The settings that the drivers for a server have in common, read once from their options. */
import { createSetupError } from "../../errors/setup-error.js";
import { checkNumber, type PoolLimits, type PoolOptions, toPoolLimits } from "../pool/pool-options.js";
import { parseServerUrl, type ServerUrl, type UrlRules } from "./server-url.js";

/** In milliseconds; 0 means no limit. */
export interface ServerTimeouts {
  readonly statement: number;
  readonly lock: number;
  readonly idleInTransaction: number;
}

export interface ServerSettings {
  readonly server: ServerUrl;
  readonly migrationServer: ServerUrl;
  readonly pool: PoolLimits;
  readonly timeouts: ServerTimeouts;
}

export interface ServerRules extends UrlRules {
  readonly minLockTimeoutMs: number;
  readonly maxTimeoutMs: number;
}

interface ServerOptions {
  readonly url: string;
  readonly password?: ServerUrl["password"];
  readonly migrationUrl?: string;
  readonly pool?: PoolOptions;
  readonly statementTimeoutMs?: number;
  readonly lockTimeoutMs?: number;
  readonly idleInTransactionTimeoutMs?: number;
}

/** @throws FrameworkError `E_OPTION`, `E_DB_URL`, `E_DB_SETTING` */
export function toServerSettings(options: ServerOptions, rules: ServerRules): ServerSettings {
  const { url, migrationUrl, password, pool } = options;
  const server = parseServerUrl(url, rules);
  const migrationServer = migrationUrl === undefined ? undefined : parseServerUrl(migrationUrl, rules);
  checkPassword(password, rules);
  const application = { ...server, password: password ?? server.password };
  return {
    server: application,
    migrationServer: migrationServer ?? application,
    pool: toPoolLimits(pool, `pool of ${rules.name}`),
    timeouts: readTimeouts(options, rules),
  };
}

/** A text would stand in a printed driver. The error does not repeat it. */
function checkPassword(password: unknown, { name }: UrlRules): void {
  if (password === undefined || typeof password === "function") return;
  const what = `password of ${name}() is a function that returns it: password: () => readSecret()`;
  throw createSetupError("E_DB_SETTING", what);
}

function readTimeouts(options: ServerOptions, { name, minLockTimeoutMs, maxTimeoutMs }: ServerRules): ServerTimeouts {
  const { statementTimeoutMs = 30_000, lockTimeoutMs = 10_000, idleInTransactionTimeoutMs = 60_000 } = options;
  checkNumber(name, "statementTimeoutMs", statementTimeoutMs, 0, maxTimeoutMs);
  checkNumber(name, "lockTimeoutMs", lockTimeoutMs, minLockTimeoutMs, maxTimeoutMs);
  checkNumber(name, "idleInTransactionTimeoutMs", idleInTransactionTimeoutMs, 0, maxTimeoutMs);
  return { statement: statementTimeoutMs, lock: lockTimeoutMs, idleInTransaction: idleInTransactionTimeoutMs };
}
