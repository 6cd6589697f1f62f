/**
 * `runWorkers()`: the same program runs as the parent, which owns the port and serves nothing, and as each of its workers, which serve. The
 * generic part is `lib/server/workers`.
 */
import cluster from "node:cluster";
import { FrameworkError } from "../../errors/framework-error.js";
import { printIfUncaught } from "../../errors/setup-error.js";
import { WorkersError } from "../../server/workers/supervisor.js";
import { tracing } from "../../tracing/tracing.js";
import type { ApplicationParts } from "../build.js";
import { findSupervisorAddress } from "../listen-address.js";
import { runProcess } from "../run.js";
import { runParent } from "./parent-run.js";
import { takeWorkerPlace } from "./worker-place.js";
import { runWorker } from "./worker-run.js";
import { checkWorkersOptions, type WorkersOptions } from "./workers-options.js";

const log = tracing.target("framework::workers");

export async function runWorkers(parts: ApplicationParts, options: WorkersOptions): Promise<void> {
  const place = takeWorkerPlace();
  const checked = checkWorkersOptions(options);
  if (place === undefined && isSupervised(parts)) return runProcess(parts);
  try {
    await parts.log.run(() => (place === undefined ? runParent(parts, checked) : runWorker(parts, checked, place)));
  } catch (error) {
    if (error instanceof WorkersError) printIfUncaught(error, `${error.code} ${error.message}`);
    else if (error instanceof FrameworkError) printIfUncaught(error);
    throw error;
  }
}

/** The development supervisor restarts one process, and the primary of a foreign cluster has its workers already. */
function isSupervised(parts: ApplicationParts): boolean {
  if (findSupervisorAddress() !== undefined) return true;
  if (!cluster.isWorker) return false;
  parts.log.run(() => log.warn("runWorkers() serves in this process alone: another program has forked it as a worker"));
  return true;
}
