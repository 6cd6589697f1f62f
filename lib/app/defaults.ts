/**
 * What the framework provides where the application does not: visible everywhere, overridden by any binding of the same token.
 */
import { Maintenance } from "../stages/maintenance.js";
import { provide, type Binding } from "../di/provide.js";
import { Clock, SystemClock } from "../runtime/clock.js";
import type { Lifecycle } from "../lifecycle/state.js";
import { Readiness } from "../lifecycle/readiness.js";
import { Filter } from "../observe/logging/filter.js";
import { currentLog } from "../observe/logging/install.js";
import { Metrics } from "../observe/metrics/metrics.js";
import { LogSink } from "../observe/logging/sink.js";
import { StderrSink } from "../observe/logging/stderr-sink.js";
import { Routes } from "../routing/routes.js";
import { AppConfig } from "./config.js";
import type { Plan } from "./plan.js";

export function defaultsOf(
  { lifecycle: { probeTimeoutMs }, fallbacks }: Plan,
  lifecycle: Lifecycle,
  routes: Routes,
): Binding[] {
  return [
    provide(Clock).useFactory(() => new SystemClock()),
    provide(AppConfig).useFactory(() => new AppConfig()),
    provide(Metrics).useFactory(() => new Metrics()),
    provide(Maintenance).useFactory(() => new Maintenance()),
    // What is installed has read the environment; nothing does so here.
    provide(LogSink).useFactory(() => currentLog()?.sink ?? new StderrSink()),
    provide(Filter).useFactory(() => currentLog()?.levels ?? Filter.upTo("INFO")),
    provide(Routes).useValue(routes),
    provide(Readiness).useFactory(
      (resolve) =>
        new Readiness(lifecycle, { clock: resolve(Clock), ...(probeTimeoutMs !== undefined && { probeTimeoutMs }) }),
    ),
    ...fallbacks,
  ];
}
