/** A worker of `runWorkers()`: serves the connections that the parent passes, until the parent asks it to end, or ends itself. */
import cluster from "node:cluster";
import { Listener } from "../../server/listener.js";
import { PassedConnections } from "../../server/workers/passed-connections.js";
import { MessageLink } from "../../server/workers/worker-link.js";
import { ApplicationRun, type StopTimes } from "../application-run.js";
import type { ApplicationParts } from "../build.js";
import { CRASH_TIMES, listenForCrashes, reportCrash } from "../process-end.js";
import { createRequestHandler, releaseClusterChannel, reportUnlogged, serveUntil, type RunEnd } from "../run.js";
import type { WorkerPlace } from "./worker-place.js";
import type { CheckedWorkersOptions } from "./workers-options.js";
import { createWorkerParts } from "./workers-parts.js";

export async function runWorker(
  parts: ApplicationParts,
  options: CheckedWorkersOptions,
  place: WorkerPlace,
): Promise<void> {
  parts.koa.connections.responsesPerConnection = options.responsesPerConnection;
  const link = openLink();
  const passed = new PassedConnections(link, place.address);
  const features = createWorkerParts(parts, link);
  const listener = Listener.fromExisting(passed, createRequestHandler(parts));
  await listener.attach(parts.attachments);
  // The parent has the same warnings, and shows them once.
  const run = new ApplicationRun({ ...parts, warnings: () => [] }, listener, reportUnlogged);
  const end = new WorkerRunEnd(parts, link, passed);
  // The parent reads both. After its end a write fails, and the worker drains.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignore);
  link.tell("linked");
  try {
    await serveUntil(run, end, () => {
      for (const feature of features) feature.ready?.();
      link.tell("ready");
    });
    for (const feature of features) await feature.stopped?.();
    link.tell("stopped");
    // The program may exit at once. A parent that does not read kills this process.
    await link.flush();
  } finally {
    releaseClusterChannel();
  }
}

function openLink(): MessageLink {
  const link = new MessageLink(
    (message, socket, sent) => {
      if (process.send === undefined || !process.connected) sent();
      else process.send(message, socket, {}, sent);
    },
    // The parent reads unless its processor is far too slow. Then messages are lost, and the service goes on.
    () => undefined,
  );
  process.on("message", (message, handle) => link.receive(message, handle));
  link.hear("ping", () => link.tell("pong"));
  return link;
}

/** Tells a worker to stop: its parent asks for it, its parent has ended, or it has an uncaught error. */
class WorkerRunEnd implements RunEnd {
  hasCrashed = false;
  readonly stopRequested: Promise<StopTimes>;
  private releases: (() => void)[] = [];

  constructor(
    private readonly parts: ApplicationParts,
    private readonly link: MessageLink,
    private readonly passed: PassedConnections,
  ) {
    this.stopRequested = new Promise((resolve) => this.listen(resolve));
  }

  release(): void {
    for (const release of this.releases) release();
  }

  private listen(stop: (times: StopTimes) => void): void {
    // The parent, which may be of another release, sends the times of its drain.
    this.link.hear("drain", (body) => stop({ ...this.parts.times, ...(body as StopTimes) }));
    const disconnected = (): void => {
      // Node would exit at once.
      if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
      this.passed.release();
      stop({ ...this.parts.times, drainDelayMs: 0 });
    };
    cluster.worker?.once("disconnect", disconnected);
    this.listenForSignals();
    this.releases.push(
      listenForCrashes((error) => {
        this.hasCrashed = true;
        this.parts.log.run(() => reportCrash(error));
        stop(CRASH_TIMES);
      }),
    );
  }

  /**
   * SIGINT of a terminal, and SIGHUP to a whole group of processes, reach the parent as well, which asks its workers to end, or replaces
   * them.
   */
  private listenForSignals(): void {
    let hasRetired = false;
    const retire = (): void => {
      if (hasRetired) process.exit(143);
      hasRetired = true;
      this.link.tell("retiring");
    };
    process.on("SIGINT", ignore).on("SIGHUP", ignore).on("SIGTERM", retire);
    this.releases.push(() => process.off("SIGINT", ignore).off("SIGHUP", ignore).off("SIGTERM", retire));
  }
}

function ignore(): void {}
