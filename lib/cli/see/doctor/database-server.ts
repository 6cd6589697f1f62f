/**
 * What a server of a database says about itself: its clock beside that of this machine, and its oldest open transaction, which keeps the rows
 * that are deleted meanwhile. Not for SQLite, which has no server.
 */
import type { Database } from "../../../db/database.js";
import type { SqlFamily } from "../../../db/dialect.js";
import type { DriverResult } from "../../../db/driver.js";
import { causeText } from "../../../errors/thrown-value.js";
import type { Finding } from "./finding.js";

const check = "database";

const QUERY_TIMEOUT_MS = 5000;
/** The first request pays for caches, so the quickest of several says most. */
const CLOCK_TRIES = 3;
const SKEW_WARNING_MS = 1000;
const SKEW_FAILURE_MS = 30_000;
const TRANSACTION_WARNING_S = 60;

type ServerFamily = Exclude<SqlFamily, "sqlite">;

const CLOCKS: Readonly<Record<ServerFamily, string>> = {
  postgres: "select extract(epoch from clock_timestamp()) * 1000 as now",
  mysql: "select unix_timestamp(now(6)) * 1000 as now",
};

/** A role without the right to see other sessions sees those of its user. A prepared transaction has no session. */
const TRANSACTIONS: Readonly<Record<ServerFamily, string>> = {
  postgres: `
    select extract(epoch from clock_timestamp() - xact_start) as age, 'process ' || pid as holder, 'select pg_terminate_backend(' || pid || ')' as fix
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and xact_start is not null
    union all
    select extract(epoch from clock_timestamp() - prepared), 'prepared transaction ' || quote_literal(gid), 'rollback prepared ' || quote_literal(gid)
      from pg_prepared_xacts where database = current_database()
    order by age desc limit 1`,
  mysql: `
    select timestampdiff(second, trx_started, now()) as age, concat('connection ', trx_mysql_thread_id) as holder,
        concat('kill ', trx_mysql_thread_id) as fix
      from information_schema.innodb_trx where trx_mysql_thread_id <> connection_id() order by age desc limit 1`,
};

/** @param now the clock of this machine, in milliseconds since the Unix epoch; @param maxAgeS of a transaction, in seconds */
export async function checkServer(
  database: Database<unknown>,
  now: () => number = Date.now,
  maxAgeS = TRANSACTION_WARNING_S,
): Promise<readonly Finding[]> {
  const { family } = database.driver.dialect;
  if (family === "sqlite") return [];
  return [await checkClock(database, family, now), await checkTransactions(database, family, maxAgeS)];
}

async function checkClock(
  { name, driver }: Database<unknown>,
  family: ServerFamily,
  now: () => number,
): Promise<Finding> {
  let [minMs, skewMs] = [Number.POSITIVE_INFINITY, 0];
  for (let attempt = 1; attempt <= CLOCK_TRIES; attempt++) {
    const startedAt = now();
    const [row] = await query(driver, CLOCKS[family]);
    const tookMs = now() - startedAt;
    if (tookMs >= minMs) continue;
    minMs = tookMs;
    skewMs = Number(row?.["now"]) - startedAt - tookMs / 2;
  }
  // The moment at which the server has read its clock is unknown by half of the time of the request.
  const leastMs = Math.max(0, Math.abs(skewMs) - minMs / 2);
  if (leastMs <= SKEW_WARNING_MS) return { level: "ok", check, what: `${name}: its clock is that of this machine` };
  const direction = skewMs > 0 ? "ahead of" : "behind";
  return {
    level: leastMs > SKEW_FAILURE_MS ? "fail" : "warn",
    check,
    what: `${name}: its clock is ${(leastMs / 1000).toFixed(1)} s ${direction} that of this machine`,
    fix: "run a time service such as chrony on both; leases, sessions and signed links compare their times",
  };
}

async function checkTransactions(
  { name, driver }: Database<unknown>,
  family: ServerFamily,
  maxAgeS: number,
): Promise<Finding> {
  let rows: DriverResult["rows"];
  try {
    rows = await query(driver, TRANSACTIONS[family]);
  } catch (error) {
    const { text = causeText(error) } = driver.failure(error);
    const fix = "grant process on *.* to the user of the application, or ask the server as another user";
    return { level: "warn", check, what: `${name}: its open transactions cannot be seen: ${text}`, fix };
  }
  const [{ age, ...row } = {}] = rows;
  const [holder, fix] = [String(row["holder"]), String(row["fix"])];
  const seconds = Math.floor(Number(age));
  if (age === undefined || seconds < maxAgeS)
    return { level: "ok", check, what: `${name}: no transaction is open for longer than ${maxAgeS} s` };
  return {
    level: "warn",
    check,
    what: `${name}: a transaction is open for ${seconds} s, by ${holder}; deleted rows stay until it ends`,
    fix: `end its program, or on the server: ${fix}`,
  };
}

async function query(driver: Database<unknown>["driver"], sql: string): Promise<DriverResult["rows"]> {
  const signal = AbortSignal.timeout(QUERY_TIMEOUT_MS);
  const connection = await driver.connect({ readOnly: true, signal });
  try {
    return (await connection.query({ sql, parameters: [], isRead: true, signal })).rows;
  } finally {
    connection.release();
  }
}
