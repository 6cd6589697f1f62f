/**
 * The times of `.lifecycle({ … })`, in milliseconds, with their defaults. This file decides how long a drain and a stop wait unless the
 * application sets other times. `lib/server/drain.ts` applies the delay and the deadline, `lib/lifecycle/startup.ts` and
 * `lib/app/application-run.ts` the limit of a hook at the stop, and `lib/lifecycle/readiness.ts` the limit of a probe.
 * `lib/app/process-end.ts` replaces the times of the drain in two cases: after an uncaught error there is no delay, and the deadline is
 * 5 s; when a supervisor closes standard input, there is no delay.
 *
 * @example
 * Application.create(Shop).lifecycle({ drainDelayMs: 10_000, drainDeadlineMs: 60_000 });
 */
import { valueText } from "../errors/value-text.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { MAX_TIMER_MS } from "../runtime/clock.js";
import type { Profile } from "../runtime/profile.js";

export interface LifecycleOptions {
  /**
   * From the start of the stop, a signal or a call, until the listener stops; readiness responds with 503 meanwhile. Default: 5 000 in
   * release, 500 in debug.
   */
  readonly drainDelayMs?: number;
  /**
   * From the start of the stop until the requests in flight are aborted, `drainDelayMs` included. Default: 30 000. After an uncaught error
   * the requests have 5 000, and there is no delay.
   */
  readonly drainDeadlineMs?: number;
  /**
   * The limit of each hook at the stop: `stop()`, a `start()` or `beginWork()` that still runs, listeners, disposals, `shutdown()`, and
   * `endWork()` after the deadline of the drain. Default: 5 000.
   */
  readonly stopTimeoutMs?: number;
  /** The limit of each subsystem's `probe()`. Default: 1 000. */
  readonly probeTimeoutMs?: number;
}

export function completeLifecycleOptions(given: LifecycleOptions, profile: Profile): Required<LifecycleOptions> {
  return {
    drainDelayMs: given.drainDelayMs ?? (profile === "release" ? 5_000 : 500),
    drainDeadlineMs: given.drainDeadlineMs ?? 30_000,
    stopTimeoutMs: given.stopTimeoutMs ?? 5_000,
    probeTimeoutMs: given.probeTimeoutMs ?? 1_000,
  };
}

/** One diagnostic for each unknown name, and for each value that a timer does not take. */
export function checkLifecycleOptions(given: LifecycleOptions): readonly Diagnostic[] {
  const names = Object.keys(completeLifecycleOptions({}, "debug"));
  return Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    if (!names.includes(name)) return [describeUnknownOption(name, names)];
    return value === undefined || isTime(value) ? [] : [describeInvalidTime(name, value)];
  });
}

function isTime(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= MAX_TIMER_MS;
}

function describeUnknownOption(name: string, names: readonly string[]): Diagnostic {
  return {
    code: "E_LIFECYCLE_OPTION",
    what: `${name} is not an option of the lifecycle`,
    where: `Application.create().lifecycle({ ${name} })`,
    fix: `use one of ${names.join(", ")}`,
  };
}

function describeInvalidTime(name: string, value: unknown): Diagnostic {
  return {
    code: "E_LIFECYCLE_OPTION",
    what: `${name} cannot be ${valueText(value)}`,
    where: `Application.create().lifecycle({ ${name} })`,
    fix: `give milliseconds from 0 to ${MAX_TIMER_MS}`,
  };
}
