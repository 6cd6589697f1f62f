/**
 * The application as the process: listens, starts, announces its address, waits for the end, drains, and sets the exit code.
 */
import cluster from "node:cluster";
import { FrameworkError } from "../errors/framework-error.js";
import { printIfUncaught } from "../errors/setup-error.js";
import type { UnhandledErrorReporter } from "../http/request/exchange.js";
import { Listener } from "../server/listener.js";
import { RequestHandler } from "../server/request-handler.js";
import { MAX_TIMER_MS, OVERDUE, within } from "../runtime/clock.js";
import { markHandled } from "../runtime/mark-handled.js";
import { currentSubscriber } from "../tracing/flow.js";
import { tracing } from "../tracing/tracing.js";
import { profile } from "../runtime/profile.js";
import { ApplicationRun, getListenerUrl, type StopTimes } from "./application-run.js";
import type { ApplicationParts } from "./build.js";
import { listPortWarnings } from "./config.js";
import { findSupervisorAddress, resolveListenAddress, prepareSocket, removeSocket } from "./listen-address.js";
import { ProcessEnd, writeFailure } from "./process-end.js";

const log = tracing.target("framework::lifecycle");

/** The time for further work of the caller after a run with exit code 1. Then the process exits. */
const EXIT_DELAY_MS = 1000;

export async function runProcess(parts: ApplicationParts): Promise<void> {
  try {
    await parts.log.run(() => serveUntilEnd(parts));
  } catch (error) {
    if (error instanceof FrameworkError) printIfUncaught(error);
    throw error;
  }
}

/** Called when the work has started. The process also stops when the returned promise resolves. */
export type WorkingHook = () => Promise<void>;

/** Like `runProcess`, but without a listener: the process only runs jobs and schedules. */
export async function workProcess(parts: ApplicationParts, working: WorkingHook = forever): Promise<void> {
  try {
    await parts.log.run(() => workUntilEnd(parts, working));
  } catch (error) {
    if (error instanceof FrameworkError) printIfUncaught(error);
    throw error;
  }
}

/**
 * Calls `work` between the start of the subsystems and their stop. Nothing listens, and no job or schedule runs. After the signal `work`
 * has the time of a drain, and a start that still runs is interrupted.
 *
 * @returns the number of subsystems and hooks that failed to stop
 * @throws StartupError if a subsystem does not start; the error of `work`; the reason of a signal that aborts during the start
 */
export async function workOnce(parts: ApplicationParts, work: () => unknown, signal: AbortSignal): Promise<number> {
  const { clock, lifecycle, log: logs, times } = parts;
  const run = new ApplicationRun(parts, undefined, reportUnlogged);
  const interruptStart = (): void => {
    // The promise of the start has its failure.
    if (lifecycle.state === "booting") void markHandled(run.stop(times));
  };
  signal.addEventListener("abort", interruptStart, { once: true });
  // The timers of a subsystem may not keep the process alive.
  const alive = setInterval(() => {}, MAX_TIMER_MS);
  try {
    const running = logs.run(async () => {
      signal.throwIfAborted();
      await run.startSubsystems();
      signal.throwIfAborted();
      await work();
    });
    const outcome = await within(clock, times.drainDeadlineMs, running, signal);
    if (outcome === OVERDUE) throw new Error(`it did not end within ${times.drainDeadlineMs} ms after the signal`);
    return (await run.stop(times)).failed;
  } finally {
    signal.removeEventListener("abort", interruptStart);
    await run.stop(times).finally(() => clearInterval(alive));
  }
}

function forever(): Promise<void> {
  return new Promise(() => {});
}

async function workUntilEnd(parts: ApplicationParts, working: WorkingHook): Promise<void> {
  const run = new ApplicationRun(parts, undefined, reportUnlogged);
  const end = new ProcessEnd(parts);
  // Signals do not keep a process alive, and the timers of a subsystem may not do so either.
  const alive = setInterval(() => {}, MAX_TIMER_MS);
  try {
    const started = run.start();
    const outcome = await Promise.race([
      started.then((isReady) => (isReady ? "ready" : "stopping")),
      end.stopRequested,
    ]);
    if (outcome === "ready") log.info("working", { name: parts.config.name });
    const done = outcome === "ready" ? working().then(() => parts.times) : end.stopRequested;
    const times = await Promise.race([end.stopRequested, done]);
    started.catch(() => {});
    const { failed } = await run.stop(times);
    setExitCode(failed > 0 || end.hasCrashed);
  } finally {
    clearInterval(alive);
    end.release();
    releaseClusterChannel();
  }
}

async function serveUntilEnd(parts: ApplicationParts): Promise<void> {
  const address = resolveListenAddress(parts);
  await prepareSocket(address);
  const listener = await Listener.open(address, createRequestHandler(parts), parts.attachments);
  const run = new ApplicationRun(parts, listener, reportUnlogged);
  try {
    await serveUntil(run, new ProcessEnd(parts), () => {
      run.warn([...listPortWarnings(process.env), ...parts.processWarnings()]);
      announce(parts, getListenerUrl(listener));
    });
  } finally {
    await removeSocket(address);
    releaseClusterChannel();
  }
}

/** A request handler for a process that belongs to the application. */
export function createRequestHandler({ koa }: ApplicationParts): RequestHandler {
  const reportUnhandled: UnhandledErrorReporter = writeFailure;
  Object.assign(koa.context, { reportUnhandled });
  return new RequestHandler(koa.callback());
}

/** The cause that stops a run: for `run()` it is `ProcessEnd`. */
export interface RunEnd {
  readonly stopRequested: Promise<StopTimes>;
  readonly hasCrashed: boolean;
  release(): void;
}

/** Starts the run, calls `serving`, waits for the end, drains, stops, and sets the exit code. */
export async function serveUntil(run: ApplicationRun, end: RunEnd, serving: () => void): Promise<void> {
  try {
    const started = run.start();
    const outcome = await Promise.race([
      started.then((isReady) => (isReady ? "ready" : "stopping")),
      end.stopRequested,
    ]);
    if (outcome === "ready") serving();
    const times = await end.stopRequested;
    // If the start fails from here on, the start reports it with an event, and the stop below stops the subsystems that were started.
    started.catch(() => {});
    const { forced, failed } = await run.stop(times);
    setExitCode(forced > 0 || failed > 0 || end.hasCrashed);
  } finally {
    end.release();
  }
}

/** A handler that ignores its signal can keep the process alive after the drain, so a process with exit code 1 exits. */
export function setExitCode(hasFailed: boolean): void {
  process.exitCode = hasFailed ? 1 : 0;
  if (hasFailed) setTimeout(() => process.exit(), EXIT_DELAY_MS).unref();
}

export function reportUnlogged(what: string, detail?: unknown): void {
  if (currentSubscriber() !== undefined) return;
  if (detail === undefined) process.stderr.write(`${what}\n`);
  else writeFailure(what, detail);
}

const NO_LOG =
  "no log is installed, so that only unhandled errors are shown; fix: " +
  'installLogging("info") of @stagecraft/framework/observe, before build()';

/** Written to standard error if no subscriber logs it. */
export function announce(
  { config }: ApplicationParts,
  at: string,
  fields: Readonly<Record<string, unknown>> = {},
): void {
  const url = config.url.replace(/\/+$/, "");
  log.info("listening", { name: config.name, url, at, ...fields });
  tellSupervisor(at);
  if (currentSubscriber() !== undefined) return;
  process.stderr.write(`${config.name} listening on ${at} (${url})\n`);
  if (profile === "release") process.stderr.write(`${NO_LOG}\n`);
}

/** The supervisor lets requests go to this process from now on. It may have ended meanwhile, which the callback ignores. */
function tellSupervisor(at: string): void {
  if (profile === "debug" && findSupervisorAddress() !== undefined)
    process.send?.({ ready: at }, undefined, undefined, () => undefined);
}

/**
 * The channel to the primary keeps a cluster worker alive when the worker has no work left. The channel stays open: messages pass
 * while another handle keeps the worker alive, and `process.channel.ref()` makes the channel keep it alive again.
 */
export function releaseClusterChannel(): void {
  if (cluster.isWorker) process.channel?.unref();
}
