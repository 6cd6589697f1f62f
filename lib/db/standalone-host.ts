/** The host of a database that is used without an application, as in a script: the clock of the machine, and no metrics. */
import type { SubsystemHost, SubsystemMetrics } from "../lifecycle/operations.js";
import { SystemClock } from "../runtime/clock.js";

export function createStandaloneHost(name: string): SubsystemHost {
  return { name, clock: new SystemClock(), metrics: NO_METRICS };
}

const NO_METRICS: SubsystemMetrics = {
  describeHistogram() {},
  describeGauge() {},
  describeCounter() {},
  increment() {},
  set() {},
  histogram: () => ({ observe() {} }),
  counter: () => ({ value: 0 }),
  gauge: () => ({ value: 0 }),
};
