/** The time that a stop may take, against that which the usual supervisors wait before they kill the process. */
import type { LifecycleOptions } from "../../../lifecycle/lifecycle-options.js";
import type { Finding } from "./finding.js";

/** For the start of the signal, and for the end of the process. */
const MARGIN_MS = 5000;

/** The time that each waits unless it is set. */
const SUPERVISORS: readonly (readonly [name: string, waitMs: number, setting: (seconds: number) => string])[] = [
  ["Docker", 10_000, (seconds) => `stop_grace_period: ${seconds}s, or docker stop --time ${seconds}`],
  ["Kubernetes", 30_000, (seconds) => `terminationGracePeriodSeconds: ${seconds}`],
  ["systemd", 90_000, (seconds) => `TimeoutStopSec=${seconds}`],
];

const check = "stop";

type Times = Required<Pick<LifecycleOptions, "drainDelayMs" | "drainDeadlineMs" | "stopTimeoutMs">>;

/** The deadline of the drain includes its delay. */
export function checkStopTime({ drainDelayMs, drainDeadlineMs, stopTimeoutMs }: Times): readonly Finding[] {
  const total = Math.max(drainDelayMs, drainDeadlineMs) + stopTimeoutMs + MARGIN_MS;
  const seconds = Math.ceil(total / 1000);
  const sum = `drain ${drainDeadlineMs / 1000} s (delay ${drainDelayMs / 1000} s included) + stop ${stopTimeoutMs / 1000} s + ${MARGIN_MS / 1000} s = ${seconds} s`;
  const shorter = SUPERVISORS.filter(([, waitMs]) => waitMs < total);
  if (shorter.length === 0) return [{ level: "ok", check, what: `a release build stops within ${seconds} s: ${sum}` }];
  return shorter.map(([name, waitMs, setting]) => ({
    level: "warn",
    check,
    what: `${name} kills the process after ${waitMs / 1000} s unless set, and a stop may take ${seconds} s: ${sum}`,
    fix: `${setting(seconds)}; or shorter times in .lifecycle(…)`,
  }));
}
