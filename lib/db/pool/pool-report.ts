/**
 * The report of a pool: gauges of its connections and of the waiting callers, and a WARN event when a caller is refused. A second event
 * names the oldest use of a connection. It is written in the flow of that use, so that it has the id of the request that holds the
 * connection.
 */
import type { SubsystemHost } from "../../lifecycle/operations.js";
import { type Flow, resumeFlow } from "../../tracing/flow.js";
import { tracing } from "../../tracing/tracing.js";

/** With the labels `subsystem` and `state`: `in_use` or `idle`. */
export const POOL_CONNECTIONS = "framework_db_pool_connections";
/** Callers that wait for a connection. */
export const POOL_WAITING = "framework_db_pool_waiting";

/** The minimum time between two updates of a gauge, so that they do not slow down queries. */
const GAUGES_EVERY_MS = 250;
const EVENTS_EVERY_MS = 1000;

const log = tracing.target("framework::db");

export interface PoolFigures {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface PoolHolder {
  readonly inUseMs: number;
  /** With placeholders. */
  readonly statement: string | undefined;
  readonly flow: Flow | undefined;
}

export class PoolReport {
  private isDue = false;
  private lastEventAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly host: SubsystemHost,
    private readonly figures: () => PoolFigures,
  ) {
    host.metrics.describeGauge(POOL_CONNECTIONS, "Connections of the pool of a database.");
    host.metrics.describeGauge(POOL_WAITING, "Callers that wait for a connection of the pool.");
  }

  /** The figures have changed. */
  changed(): void {
    if (this.isDue) return;
    this.isDue = true;
    this.host.clock.setTimeout(() => this.setGauges(), GAUGES_EVERY_MS, { background: true });
  }

  setGauges(): void {
    this.isDue = false;
    const { host } = this;
    const { inUse, idle, waiting } = this.figures();
    host.metrics.set(POOL_CONNECTIONS, { subsystem: host.name, state: "in_use" }, inUse);
    host.metrics.set(POOL_CONNECTIONS, { subsystem: host.name, state: "idle" }, idle);
    host.metrics.set(POOL_WAITING, { subsystem: host.name }, waiting);
  }

  refused(limit: number, oldest: PoolHolder | undefined): void {
    const now = this.host.clock.monotonic();
    if (now - this.lastEventAt < EVENTS_EVERY_MS) return;
    this.lastEventAt = now;
    const { inUse, waiting } = this.figures();
    log.warn("no connection is free", {
      subsystem: this.host.name,
      in_use: inUse,
      limit,
      waiting,
      ...toFields(oldest),
    });
    if (oldest === undefined) return;
    const fields = { subsystem: this.host.name, ...toFields(oldest) };
    resumeFlow(oldest.flow, () => log.warn("connection in use while others wait", fields), undefined);
  }
}

function toFields(oldest: PoolHolder | undefined) {
  if (oldest === undefined) return {};
  const { inUseMs, statement } = oldest;
  return { held_ms: Math.trunc(inUseMs), ...(statement !== undefined && { statement }) };
}
