/** The parent of `runWorkers()`: owns the port, and ends when it is asked, or when its workers cannot work. */
import { currentSubscriber } from "../../tracing/flow.js";
import { tracing } from "../../tracing/tracing.js";
import { SharedPort } from "../../server/workers/shared-port.js";
import type { SignalSource } from "../../server/signals.js";
import { Supervisor } from "../../server/workers/supervisor.js";
import { ApplicationRun, getListenerUrl } from "../application-run.js";
import type { ApplicationParts } from "../build.js";
import { listPortWarnings } from "../config.js";
import { prepareSocket, removeSocket, resolveListenAddress } from "../listen-address.js";
import { listProcessStateWarnings } from "./process-states.js";
import { ProcessEnd } from "../process-end.js";
import { announce, reportUnlogged, setExitCode } from "../run.js";
import { toEnvironment } from "./worker-place.js";
import type { CheckedWorkersOptions } from "./workers-options.js";
import { createParentParts, type ParentPart } from "./workers-parts.js";

const log = tracing.target("framework::workers");

export async function runParent(parts: ApplicationParts, options: CheckedWorkersOptions): Promise<void> {
  const features = createParentParts(parts, options);
  const address = resolveListenAddress(parts);
  await prepareSocket(address);
  const port = await SharedPort.open(address);
  const run = new ApplicationRun(parts, undefined, reportUnlogged);
  const supervisor = createSupervisor(parts, { options, port, features });
  const end = new ProcessEnd(parts, toSignals(supervisor));
  const roll = (): void => void supervisor.roll();
  process.on("SIGHUP", roll);
  log.info("starting workers", { workers: options.count, source: options.source });
  if (currentSubscriber() === undefined)
    process.stderr.write(`starting ${options.count} workers (${options.source})\n`);
  try {
    supervisor.start();
    const isServing = supervisor.ready.then(() => true);
    if ((await Promise.race([isServing, end.stopRequested, supervisor.failed])) === true) {
      run.warn([
        ...listPortWarnings(process.env),
        ...parts.warnings(),
        ...parts.processWarnings(),
        ...listProcessStateWarnings(parts, options.count),
      ]);
      announce(parts, getListenerUrl({ address: port.address, scheme: "http" }), { workers: options.count });
    }
    const times = await Promise.race([end.stopRequested, supervisor.failed]);
    await supervisor.stop(times);
    const { failed } = await run.stop(times);
    setExitCode(failed > 0 || supervisor.forced > 0 || end.hasCrashed);
  } catch (error) {
    await supervisor.stop({ ...parts.times, drainDelayMs: 0 });
    throw error;
  } finally {
    for (const feature of features) await feature.close?.();
    process.off("SIGHUP", roll);
    end.release();
    await removeSocket(address);
  }
}

interface SupervisorInput {
  readonly options: CheckedWorkersOptions;
  readonly port: SharedPort;
  readonly features: readonly ParentPart[];
}

function createSupervisor(parts: ApplicationParts, { options, port, features }: SupervisorInput): Supervisor {
  const { clock, times, subsystems, shutdownLast } = parts;
  return new Supervisor({
    clock,
    count: options.count,
    port,
    observers: features,
    restarts: { limit: options.maxRestartsPerMinute, withinMs: 60_000 },
    unresponsiveAfterMs: options.unresponsiveAfterMs,
    startTimeoutMs: options.startTimeoutMs,
    // Within the delay each response closes its connection. Without it a request would meet a connection that closes.
    rollTimes: times,
    // Each hook has its limit: those of the subsystems, the listeners of events, the disposals.
    stopLimitMs: (2 * subsystems.members.length + shutdownLast.length + 3) * times.stopTimeoutMs,
    environment: toEnvironment({ address: port.address }),
  });
}

/** A second signal ends the workers as well, at once. */
function toSignals(supervisor: Supervisor): SignalSource {
  return {
    platform: process.platform,
    on: (signal, listener) => process.on(signal, listener),
    off: (signal, listener) => process.off(signal, listener),
    exit: (code) => {
      supervisor.kill();
      process.exit(code);
    },
  };
}
