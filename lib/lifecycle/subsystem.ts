/**
 * A part of the application that must be up before the first request and down after the last one: a database, a job queue, a cache, a
 * file store, a mail transport. Provide it like any other class. `run()` starts it, probes it and stops it.
 *
 * Not for an object that only needs disposal: the container calls `dispose` or `Symbol.asyncDispose` of every provider.
 *
 * @example
 * class Postgres extends Subsystem {
 *   readonly kind = "database";
 *   start() { return this.pool.connect(); }
 *   stop() { return this.pool.end(); }
 *   override probe(signal: AbortSignal) { return this.pool.query("select 1", { signal }); }
 * }
 */
import { markKind } from "../errors/copy-mark.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import type { SubsystemHost } from "./operations.js";
import type { TracingLayer } from "../tracing/registry.js";

/** In start order; the stop order is the reverse. */
export const SUBSYSTEM_KINDS = ["database", "jobs", "cache", "storage", "mail", "oauth", "maintenance"] as const;

export type SubsystemKind = (typeof SUBSYSTEM_KINDS)[number];

/** The kind of process that works: one that also serves requests, or one that only works. */
export type WorkingProcess = "web" | "worker";

/** The methods of a provider that a subsystem calls: `Sweeper.sweep on links.sweep`. */
export interface ProviderWork {
  readonly jobs: readonly string[];
  readonly schedules: readonly string[];
}

export abstract class Subsystem {
  abstract readonly kind: SubsystemKind;

  static {
    markKind(this.prototype, "subsystem");
  }

  /** Distinguishes several subsystems of one kind in health checks and events. Default: the name of the class. */
  declare readonly name?: string;

  /**
   * True if `currentWorkScope()` must hold the request for which the subsystem works. This costs time in each request, so it is off unless
   * set.
   */
  declare readonly followsRequests?: boolean;

  /**
   * True if several processes may do the work of `beginWork` at the same time, because a store gives each part of it to one of them.
   * `runWorkers` then gives it to the next worker without a pause. Else one worker has ended it before another one begins.
   */
  declare readonly sharesWork?: boolean;

  /** Called once by `build()`. Returns the faults in the combination of all subsystems of the application, this one included. */
  check?(all: readonly Subsystem[]): readonly Diagnostic[];

  /** Called once by `build()`, before `start`: with the name, the clock and the metrics of the application. Opens no connection. */
  prepare?(host: SubsystemHost): void;

  /** Names the methods of a provider that the subsystem calls, for the graph of the application. @internal */
  describeProvider?(provider: object): ProviderWork;

  /** Called once, after all subsystems of an earlier kind have started. If it throws or rejects, the application does not start. */
  abstract start(): unknown;

  /**
   * Called at most once, after all subsystems have started: starts work that no request asks for. It may use every other subsystem.
   *
   * @param process `worker` for `application.work()`, a process that only does such work
   */
  beginWork?(process: WorkingProcess): unknown;

  /**
   * Called once, before the first subsystem stops, if `beginWork` was called: stops that work. No new work starts; running work may take
   * `deadlineMs` milliseconds. `stopTimeoutMs` later the call counts as failed, and the stop continues.
   */
  endWork?(deadlineMs: number): unknown;

  /**
   * Called once, and only if `start` succeeded. It may take `stopTimeoutMs`. If it throws or rejects, the other subsystems are
   * still stopped.
   */
  abstract stop(): unknown;

  /**
   * Checks whether the subsystem works now. It works if the call returns or resolves, and does not if the call throws or rejects. After
   * `probeTimeoutMs` the probe has failed and `signal` aborts. The health checks leave out a subsystem without a probe.
   */
  probe?(signal: AbortSignal): unknown;
}

/**
 * An object that outlives all subsystems, for example an exporter that still has to send the spans of the last requests. `run()` calls
 * `shutdown` of every provided one once, after the last subsystem has stopped. A failure is a warning and leaves the exit code alone. A
 * call that takes longer than `stopTimeoutMs` is abandoned, and the exit code is 1.
 */
export abstract class ShutdownLast {
  static {
    markKind(this.prototype, "ShutdownLast");
  }

  abstract shutdown(): Promise<void>;

  /** The layer from which it receives its spans. In a debug build `run()` warns if the log subscriber does not have the layer. */
  tracingLayer?(): TracingLayer;
}
