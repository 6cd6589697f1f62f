/**
 * The times of `.lifecycle({ … })`, in milliseconds, and what they are where they are not given (details, section L).
 *
 * @example
 * Application.create(Shop).lifecycle({ drainDelayMs: 10_000, drainDeadlineMs: 60_000 });
 */
import { LONGEST_TIMER_MS } from "../runtime/clock.js";
import type { Profile } from "../runtime/profile.js";
import type { Diagnostic } from "../errors/diagnostic.js";

export interface LifecycleOptions {
  /** How long readiness is seen as 503 before the listener stops: 5 000 in release, 500 in debug. */
  readonly drainDelayMs?: number;
  /** How long after the signal requests in flight may finish: 30 000. */
  readonly drainDeadlineMs?: number;
  /** What each subsystem's `stop()` may take: 5 000. */
  readonly stopTimeoutMs?: number;
  /** What each subsystem's `probe()` may take: 1 000. */
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

/** One finding for each name that is none of the times, and for each time that no timer can be set to. */
export function checkLifecycleOptions(given: LifecycleOptions): readonly Diagnostic[] {
  const names = Object.keys(completeLifecycleOptions({}, "debug"));
  return Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    if (!names.includes(name)) return [unknownTime(name, names)];
    return value === undefined || isTime(value) ? [] : [badTime(name, value)];
  });
}

function unknownTime(name: string, names: readonly string[]): Diagnostic {
  return {
    code: "E_LIFECYCLE_OPTION",
    what: `${name} is none of the lifecycle's times`,
    where: `Application.create().lifecycle({ ${name} })`,
    fix: `write one of ${names.join(", ")}`,
  };
}

function isTime(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= LONGEST_TIMER_MS;
}

function badTime(name: string, value: unknown): Diagnostic {
  return {
    code: "E_LIFECYCLE_OPTION",
    what: `${name} is ${String(value)}`,
    where: `Application.create().lifecycle({ ${name} })`,
    fix: `give milliseconds from 0 to ${LONGEST_TIMER_MS}`,
  };
}
