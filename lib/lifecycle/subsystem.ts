/**
 * A part of the application that has to be up before the first request and down after the last: a database, a queue of jobs, a cache,
 * a store of files, a mail transport. Provide it like anything else; `run()` starts it, probes it and stops it.
 *
 * Not for what merely needs disposing: a provider with `dispose` or `Symbol.asyncDispose` is disposed without being a subsystem.
 *
 * @example
 * class Postgres extends Subsystem {
 *   readonly kind = "database";
 *   start() { return this.pool.connect(); }
 *   stop() { return this.pool.end(); }
 *   override probe(signal: AbortSignal) { return this.pool.query("select 1", { signal }); }
 * }
 */

/** The order in which kinds are started; they are stopped in reverse (details, section L). */
export const SUBSYSTEM_KINDS = ["database", "jobs", "cache", "storage", "mail"] as const;

export type SubsystemKind = (typeof SUBSYSTEM_KINDS)[number];

export abstract class Subsystem {
  abstract readonly kind: SubsystemKind;

  /** Tells two of a kind apart, in the health checks and in events; the class's name where it is not given. */
  declare readonly name?: string;

  /** Called once, after everything of an earlier kind has started. Throwing, or rejecting, undoes the start of the application. */
  abstract start(): unknown;

  /** Called once, and only if `start` succeeded; it has `stopTimeoutMs`. Throwing, or rejecting, does not keep others from stopping. */
  abstract stop(): unknown;

  /**
   * Whether it works right now: returning, or resolving, says yes; throwing, or rejecting, says no. It has `probeTimeoutMs`, after
   * which `signal` aborts. A subsystem without a probe does not appear in the health checks.
   */
  probe?(signal: AbortSignal): unknown;
}

/**
 * For what must outlive everything else: an exporter that still has to send what the last requests left. Anything provided that
 * extends this is shut down after the last subsystem, once; its failure is a warning and no exit code.
 */
export abstract class ShutdownLast {
  abstract shutdown(): Promise<void>;
}
