/** The limits of a pool: the connections, the waiting callers, and the times. */
import { checkOptionNames } from "../../errors/option-names.js";
import { checkWholeNumber } from "../../errors/whole-number.js";
import { MAX_TIMER_MS } from "../../runtime/clock.js";

export interface PoolOptions {
  /** Connections; 10 unless set. Count all processes: PostgreSQL allows 100, MariaDB and MySQL 151 unless set. */
  readonly max?: number;
  /** Callers that wait for a connection; 500 unless set. The next one is refused with 503. */
  readonly maxWaiting?: number;
  /** Milliseconds that a caller waits; 5000 unless set. Then it is refused with 503. */
  readonly waitMs?: number;
  /** Milliseconds until a new connection must be usable; 5000 unless set. */
  readonly connectMs?: number;
  /** Milliseconds after which an unused connection is closed; five minutes unless set. */
  readonly idleMs?: number;
  /** Milliseconds after which a connection is replaced when it is free; half an hour unless set. */
  readonly maxAgeMs?: number;
}

export type PoolLimits = Readonly<Required<PoolOptions>>;

const DEFAULTS: PoolLimits = {
  max: 10,
  maxWaiting: 500,
  waitMs: 5000,
  connectMs: 5000,
  idleMs: 300_000,
  maxAgeMs: 1_800_000,
};

const MAX_CONNECTIONS = 10_000;
const MAX_WAITING = 1_000_000;

/** @throws FrameworkError `E_OPTION`, `E_DB_SETTING` */
export function toPoolLimits(options: PoolOptions | undefined, where: string): PoolLimits {
  checkOptionNames(options, DEFAULTS, where);
  const limits = { ...DEFAULTS, ...options };
  checkNumber(where, "max", limits.max, 1, MAX_CONNECTIONS);
  checkNumber(where, "maxWaiting", limits.maxWaiting, 0, MAX_WAITING);
  for (const name of ["waitMs", "connectMs", "idleMs", "maxAgeMs"] as const)
    checkNumber(where, name, limits[name], 1, MAX_TIMER_MS);
  return limits;
}

/** @throws FrameworkError `E_DB_SETTING` */
export function checkNumber(where: string, name: string, value: number, min: number, max: number): void {
  checkWholeNumber("E_DB_SETTING", `${where}: ${name}`, value, [min, max]);
}
