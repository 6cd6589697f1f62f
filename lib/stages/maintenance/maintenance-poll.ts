/**
 * Keeps the `Maintenance` of one application and its store equal: reads the store once a second, and writes the changes by the code of this
 * process. While the store is away, the last known state stays. One access to the store ends before the next one starts.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { hostname } from "node:os";
import { FrameworkError } from "../../errors/framework-error.js";
import type { SubsystemHost } from "../../lifecycle/operations.js";
import { Subsystem } from "../../lifecycle/subsystem.js";
import { type Clock, OVERDUE, SystemClock, type Timer, within } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import type { MaintenanceState, MaintenanceStore } from "./maintenance-store.js";

const log = tracing.target("framework::http::maintenance");

const POLL_MS = 1000;
/** An access that takes this long counts as failed, although it may still end. */
const ACCESS_LIMIT_MS = 2000;
/** The least time between two warnings. */
const WARN_EVERY_MS = 10_000;

/** Called by code of this process that switches the maintenance. */
export type MaintenanceChange = (isEngaged: boolean) => void;

/** The part of a `Maintenance` that follows a store. */
export interface FollowingMaintenance {
  readonly isEngaged: boolean;
  /** Takes over the stored state; `undefined` where none was written. */
  follow(state: MaintenanceState | undefined): void;
  /** Calls `change` with each change by code, until the returned function is called. */
  onChange(change: MaintenanceChange): () => void;
}

export class MaintenancePoll extends Subsystem {
  readonly kind = "maintenance";

  private clock: Clock = new SystemClock();
  /** Runs a function outside of the request or transaction that has changed the maintenance. */
  private runApart: <T>(work: () => T) => T = (work) => work();
  private ignoreChanges: () => void = () => {};
  private timer: Timer | undefined = undefined;
  private running: Promise<void> | undefined = undefined;
  private startedAt = 0;
  private known: MaintenanceState | undefined = undefined;
  /** The change that is not stored yet. */
  private wanted: MaintenanceState | undefined = undefined;
  private wasRead = false;
  private warnedAt = Number.NEGATIVE_INFINITY;
  private isReportedAway = false;

  constructor(
    private readonly maintenance: FollowingMaintenance,
    private readonly store: MaintenanceStore,
  ) {
    super();
  }

  override prepare({ clock }: SubsystemHost): void {
    this.clock = clock;
  }

  /** Resolves when the first state is read, or the store is away. */
  override async start(): Promise<void> {
    this.runApart = AsyncLocalStorage.snapshot();
    this.ignoreChanges = this.maintenance.onChange((isEngaged) => this.change(isEngaged));
    if ((await within(this.clock, ACCESS_LIMIT_MS, this.access())) === OVERDUE) this.reportAway(createOverdueError());
    this.schedule();
  }

  /** Waits for the last change to be stored. */
  override async stop(): Promise<void> {
    this.timer?.cancel();
    this.ignoreChanges();
    const last = this.wanted === undefined ? this.running : this.access();
    if (last !== undefined) await within(this.clock, ACCESS_LIMIT_MS, last);
  }

  private schedule(): void {
    this.timer = this.clock.setTimeout(() => this.poll(), POLL_MS, { background: true, isPoll: true });
  }

  private poll(): void {
    this.schedule();
    if (this.running === undefined) void this.access();
    else if (this.clock.monotonic() - this.startedAt >= ACCESS_LIMIT_MS) this.reportAway(createOverdueError());
  }

  private change(isEngaged: boolean): void {
    const { known } = this;
    const isKnown = known?.isEngaged === isEngaged;
    this.known = isKnown ? known : { isEngaged, since: this.clock.now(), by: `process ${process.pid}@${hostname()}` };
    this.wanted = this.known;
    void this.runApart(() => this.access());
  }

  /** Joins the access that runs. Never rejects. */
  private access(): Promise<void> {
    return (this.running ??= this.accessAll());
  }

  /** A change that comes during an access is stored after it. */
  private async accessAll(): Promise<void> {
    while ((await this.accessOnce()) && this.wanted !== undefined);
    this.running = undefined;
  }

  /** False if the store is away. */
  private async accessOnce(): Promise<boolean> {
    this.startedAt = this.clock.monotonic();
    try {
      await (this.wanted === undefined ? this.read() : this.write(this.wanted));
      this.reportBack();
      return true;
    } catch (error) {
      this.reportAway(error);
      return false;
    }
  }

  private async read(): Promise<void> {
    const state = await this.store.read();
    // A change by the code of this process is newer.
    if (this.wanted !== undefined) return;
    this.wasRead = true;
    this.known = state;
    const wasEngaged = this.maintenance.isEngaged;
    this.maintenance.follow(state);
    if (this.maintenance.isEngaged === wasEngaged) return;
    log.info(wasEngaged ? "maintenance has ended" : "maintenance has started", { by: state?.by });
  }

  private async write(wanted: MaintenanceState): Promise<void> {
    await this.store.write(wanted);
    this.wasRead = true;
    if (this.wanted === wanted) this.wanted = undefined;
  }

  private reportAway(error: unknown): void {
    const now = this.clock.monotonic();
    if (now - this.warnedAt < WARN_EVERY_MS) return;
    this.warnedAt = now;
    this.isReportedAway = true;
    const stays = this.wasRead ? "the last known state stays" : "its state is unknown, and that of the handle stays";
    log.warn(`the store of the maintenance is away: ${stays}`, {
      store: this.store.name,
      engaged: this.maintenance.isEngaged,
      error,
    });
  }

  private reportBack(): void {
    if (!this.isReportedAway) return;
    this.isReportedAway = false;
    log.info("the store of the maintenance is back", { store: this.store.name });
  }
}

function createOverdueError(): FrameworkError {
  return new FrameworkError(`no response within ${ACCESS_LIMIT_MS} ms`, { code: "E_MAINTENANCE_TIMEOUT", status: 503 });
}
