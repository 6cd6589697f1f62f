/**
 * A pool of connections to a database server. It bounds the connections, the waiting callers, and the time of a wait. It opens a connection
 * only for a waiting caller, and gives a free one to the first caller. A connection that another user cannot use is closed. When many wait,
 * the callers of one batch share a connection.
 *
 * Drivers of servers use it. Not for SQLite, whose connections differ: one writes, others read.
 *
 * @example
 * const pool = new ConnectionPool(limits, host, "db.internal:5432/shop", (signal) => openConnection(signal));
 * const connection = pool.takeNow() ?? (await pool.take({ signal }));
 * try { await connection.query("select 1"); } finally { pool.release(connection); }
 */
import type { SubsystemHost } from "../../lifecycle/operations.js";
import { type Abortable, throwIfAborted } from "../../runtime/abortable.js";
import { OVERDUE, type Timer, within } from "../../runtime/clock.js";
import { currentFlow } from "../../tracing/flow.js";
import { DriverError } from "../driver-error.js";
import type { PoolLimits } from "./pool-options.js";
import { findOldestHolder, type OpenMember, type PoolMember, type PoolUse } from "./pool-member.js";
import { type PoolFigures, PoolReport } from "./pool-report.js";
import { PoolWaiters } from "./pool-waiters.js";

/** The maximum number of callers that share a connection. */
const MAX_BATCH = 32;

export class ConnectionPool<M extends PoolMember> {
  private readonly uses = new Map<M, PoolUse>();
  /** A stack: the connection that was used last is used first. */
  private readonly idle: M[] = [];
  private readonly openings = new Set<AbortController>();
  private readonly waiters: PoolWaiters<M>;
  private readonly report: PoolReport;
  private reaper: Timer | undefined = undefined;
  private isStopped = false;
  private onEmpty: (() => void) | undefined = undefined;

  /** @param address for errors, without user and password */
  constructor(
    private readonly limits: PoolLimits,
    private readonly host: SubsystemHost,
    private readonly address: string,
    private readonly openMember: OpenMember<M>,
  ) {
    this.report = new PoolReport(host, () => this.figures);
    const changed = (): void => this.report.changed();
    this.waiters = new PoolWaiters(host.clock, limits.waitMs, () => this.waitTimeoutError(), changed);
  }

  get figures(): PoolFigures {
    const idle = this.idle.length;
    return { inUse: this.uses.size - idle, idle, waiting: this.waiters.size };
  }

  /** A free connection. `undefined` if there is none; `take` then waits for one, or rejects. */
  takeNow(): M | undefined {
    return this.isStopped ? undefined : this.takeIdle();
  }

  /**
   * Rejects with a `DriverError` of the kinds `overloaded` and `connection`, or with the reason of the signal.
   *
   * @param batch the callers with the same value can share a connection; each releases it
   */
  take(work: Abortable = {}, batch?: object): Promise<M> {
    // Not an async function, which would cost two more promises for each query that waits.
    try {
      throwIfAborted(work);
      if (this.isStopped) throw stoppedError();
      const member = this.takeIdle();
      if (member !== undefined) return Promise.resolve(member);
      if (this.waiters.size >= this.limits.maxWaiting + this.limits.max - this.uses.size)
        throw this.tooManyWaitingError();
      const waiting = this.waiters.wait(work, batch);
      this.openForWaiters();
      return waiting;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  release(member: M): void {
    const use = this.uses.get(member);
    if (use === undefined || use.users === 0) return;
    use.users--;
    if (use.users > 0) return;
    if (this.isStopped || !this.isFit(member, use)) this.discard(member);
    else this.offer(member, use);
  }

  /** Removes a connection from the pool, and closes it. */
  discard(member: M): void {
    if (!this.uses.delete(member)) return;
    const index = this.idle.indexOf(member);
    if (index !== -1) this.idle.splice(index, 1);
    member.close();
    this.report.changed();
    if (this.uses.size === 0) this.onEmpty?.();
    this.openForWaiters();
  }

  /** Refuses new callers, and waits up to `graceMs` for those that have a connection. */
  async stop(graceMs: number): Promise<void> {
    this.isStopped = true;
    this.reaper?.cancel();
    this.waiters.rejectAll(stoppedError());
    for (const opening of this.openings) opening.abort(stoppedError());
    for (const member of this.idle.slice()) this.discard(member);
    if (this.uses.size > 0) {
      const empty = new Promise<void>((resolve) => (this.onEmpty = resolve));
      if ((await within(this.host.clock, graceMs, empty)) === OVERDUE)
        for (const member of this.uses.keys()) this.discard(member);
    }
    this.report.setGauges();
  }

  private takeIdle(): M | undefined {
    for (let member = this.idle.pop(); member !== undefined; member = this.idle.pop()) {
      const use = this.uses.get(member);
      if (use !== undefined && this.isFit(member, use)) {
        this.markTaken(use);
        return member;
      }
      this.discard(member);
    }
    return undefined;
  }

  private isFit(member: M, use: PoolUse): boolean {
    return member.isReusable && this.host.clock.monotonic() < use.expiresAt;
  }

  private markTaken(use: PoolUse): void {
    use.takenAt = this.host.clock.monotonic();
    use.users = 1;
    use.flow = currentFlow();
    this.report.changed();
  }

  private offer(member: M, use: PoolUse): void {
    const now = this.host.clock.monotonic();
    use.takenAt = now;
    use.flow = this.waiters.firstFlow;
    use.users = this.waiters.resolveFirst(member, this.batchSize);
    if (use.users > 0) return;
    use.idleSince = now;
    this.idle.push(member);
    this.report.changed();
    this.armReaper();
  }

  /** A batch takes at most half of the callers that each connection would serve; the others may get a free connection sooner. */
  private get batchSize(): number {
    return Math.min(MAX_BATCH, Math.floor(this.waiters.size / (2 * this.limits.max)));
  }

  private openForWaiters(): void {
    if (this.isStopped) return;
    const { size } = this.waiters;
    while (this.openings.size < size && this.uses.size + this.openings.size < this.limits.max) void this.open();
  }

  /**
   * Never rejects: the first waiting caller gets the failure, and the next one gets another attempt. Where the server has no place for
   * another connection, the callers wait for one of those that the pool has.
   */
  private async open(): Promise<void> {
    const opening = new AbortController();
    this.openings.add(opening);
    const { clock } = this.host;
    const timer = clock.setTimeout(() => opening.abort(this.connectTimeoutError()), this.limits.connectMs);
    let member: M;
    try {
      member = await this.openMember(opening.signal);
    } catch (error) {
      this.openings.delete(opening);
      if (isServerFull(error) && this.uses.size > 0) return;
      this.waiters.rejectFirst(error);
      return this.openForWaiters();
    } finally {
      timer.cancel();
    }
    this.openings.delete(opening);
    if (this.isStopped) return member.close();
    const expiresAt = clock.monotonic() + this.limits.maxAgeMs * (0.9 + Math.random() / 10);
    const use: PoolUse = { expiresAt, users: 0, takenAt: 0, flow: undefined, idleSince: 0 };
    this.uses.set(member, use);
    this.offer(member, use);
  }

  private armReaper(): void {
    if (this.reaper !== undefined || this.isStopped) return;
    this.reaper = this.host.clock.setTimeout(() => this.reap(), this.limits.idleMs, { background: true });
  }

  private reap(): void {
    this.reaper = undefined;
    const oldest = this.host.clock.monotonic() - this.limits.idleMs;
    for (const member of this.idle.slice()) {
      const use = this.uses.get(member);
      if (use === undefined || use.idleSince <= oldest || !this.isFit(member, use)) this.discard(member);
    }
    if (this.idle.length > 0) this.armReaper();
  }

  private waitTimeoutError(): DriverError {
    if (this.uses.size === 0) return this.connectTimeoutError();
    return this.overloadedError("POOL_WAIT", `no connection was free within ${this.limits.waitMs} ms`);
  }

  private tooManyWaitingError(): DriverError {
    return this.overloadedError("POOL_WAITING", `${this.waiters.size} callers wait for a connection already`);
  }

  private overloadedError(code: string, what: string): DriverError {
    const oldest = findOldestHolder(this.uses, this.host.clock.monotonic());
    this.report.refused(this.limits.max, oldest);
    const inUseText = oldest === undefined ? "" : `, one of them for ${Math.trunc(oldest.inUseMs)} ms`;
    const text = `${what}: ${this.figures.inUse} of ${this.limits.max} are in use${inUseText}`;
    return new DriverError({ kind: "overloaded", code, text });
  }

  private connectTimeoutError(): DriverError {
    const text = `no connection to ${this.address} within ${Math.min(this.limits.connectMs, this.limits.waitMs)} ms`;
    return new DriverError({ kind: "connection", code: "CONNECT_TIMEOUT", text });
  }
}

function isServerFull(error: unknown): boolean {
  return error instanceof DriverError && error.failure.kind === "overloaded";
}

function stoppedError(): DriverError {
  return new DriverError({ kind: "connection", code: "POOL_STOPPED", text: "the database has been stopped" });
}
