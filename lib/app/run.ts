/**
 * The application as the process: binds, starts, announces itself, waits for a signal, drains, and leaves the exit code.
 */
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import cluster from "node:cluster";
import { inspect } from "node:util";
import { profile } from "../runtime/profile.js";
import { tracing } from "../tracing/tracing.js";
import type { ApplicationParts } from "./build.js";
import { cannotListen, type ListenAddress, Listener } from "../server/listener.js";
import { resolvePort } from "./config.js";
import { FrameworkError } from "../errors/framework-error.js";
import { currentSubscriber } from "../tracing/flow.js";
import { Service, urlOf, type StopTimes } from "./service.js";
import { Signals } from "../server/signals.js";

/**
 * Where `run()` listens: a TCP port, or, when a dev supervisor asks for it in a debug build, a socket or pipe of the supervisor's.
 */
const logOfPlace = tracing.target("framework::lifecycle");

/** The supervisor's end; only debug builds listen there. */
export function ipcPath(): string | undefined {
  const path = process.env["FRAMEWORK_APP_IPC"];
  if (path === undefined || path.trim() === "") return undefined;
  if (profile === "debug") return path;
  logOfPlace.warn("FRAMEWORK_APP_IPC is ignored in a release build");
  return undefined;
}

export function placeOf({ host, port, config }: ApplicationParts): ListenAddress {
  const path = ipcPath();
  if (path !== undefined) return { path };
  return { host, port: resolvePort(process.env, { asked: port, configured: config.port }) };
}

/** Makes the directory and removes what an earlier process left. */
export async function preparePath(place: ListenAddress): Promise<void> {
  if (!("path" in place) || isPipe(place.path)) return;
  try {
    await mkdir(dirname(place.path), { recursive: true });
    await rm(place.path, { force: true });
  } catch (cause) {
    // What `fs` rejects with.
    throw cannotListen(place, cause as NodeJS.ErrnoException);
  }
}

export async function removePath(place: ListenAddress): Promise<void> {
  if ("path" in place && !isPipe(place.path)) await rm(place.path, { force: true });
}

/** Windows has named pipes in a place of their own, which is no file system. */
function isPipe(path: string): boolean {
  return path.startsWith("\\\\");
}

const log = tracing.target("framework::lifecycle");

/** After a failure nobody caught, the process is in no state to be patient. */
const CRASH_DEADLINE_MS = 5000;

/** For what the caller still does after a run that ended badly. */
const LAST_WORDS_MS = 1000;

export async function runProcess(parts: ApplicationParts): Promise<void> {
  try {
    await parts.log.run(() => serveUntilTold(parts));
  } catch (error) {
    if (error instanceof FrameworkError) sayWhereNobodyCatches(error);
    throw error;
  }
}

/** Node would put the one clear line into a frame of its own. It looks for who catches within this turn. */
function sayWhereNobodyCatches(error: FrameworkError): void {
  const say = (uncaught: unknown): void => {
    process.stderr.write(`${uncaught === error ? error.message : shown(uncaught)}\n`);
    process.exit(1);
  };
  process.once("uncaughtException", say);
  setImmediate(() => process.off("uncaughtException", say));
}

async function serveUntilTold(parts: ApplicationParts): Promise<void> {
  const place = placeOf(parts);
  await preparePath(place);
  parts.entrance.reportUnhandledTo(sayOnStandardError);
  const service = new Service(parts, await Listener.open(place, parts.entrance));
  const end = new EndOfProcess(new Signals(parts.clock), parts);
  try {
    const started = service.start();
    const outcome = await Promise.race([started.then((ready) => (ready ? "ready" : "stopping")), end.reached]);
    if (outcome === "ready") announce(parts, service);
    const times = await end.reached;
    // A start that fails now has been told by its own event; the stop below undoes what is there.
    started.catch(() => {});
    const { forced, failed } = await service.stop(times);
    process.exitCode = forced > 0 || failed > 0 || end.hasCrashed ? 1 : 0;
    if (process.exitCode === 1) endForGood();
  } finally {
    end.release();
    await removePath(place);
    letClusterWorkerEnd();
  }
}

/** One line that says where; on standard error where no subscriber is there to say it. */
function announce({ config }: ApplicationParts, { door }: Service): void {
  const url = config.url.replace(/\/+$/, "");
  const at = urlOf(door);
  log.info("listening", { name: config.name, url, at });
  if (currentSubscriber() === undefined) process.stderr.write(`${config.name} listening on ${at} (${url})\n`);
}

function tellOfCrash(error: unknown): void {
  log.error("uncaught failure", { error, stack: error instanceof Error ? error.stack : undefined });
  // Node would have said it; a process that ends without a word is worse than a line nobody asked for.
  if (currentSubscriber() === undefined) sayOnStandardError("uncaught failure", error);
}

function sayOnStandardError(what: string, thrown: unknown): void {
  process.stderr.write(`${what}: ${shown(thrown)}\n`);
}

/** Anything can be thrown, and looking at it may throw again. */
function shown(thrown: unknown): string {
  try {
    return inspect(thrown);
  } catch {
    return "a value that cannot be looked at";
  }
}

/** A handler that ignored its signal may still hold the process; nobody waits for it any longer. */
function endForGood(): void {
  setTimeout(() => process.exit(), LAST_WORDS_MS).unref();
}

/**
 * The channel to the primary keeps a cluster worker for good, with nothing left to do. It stays open: messages pass for as long as
 * something else keeps the process, and `process.channel.ref()` has the channel keep it again.
 */
function letClusterWorkerEnd(): void {
  if (cluster.isWorker) process.channel?.unref();
}

/** What ends the process: the first signal, the supervisor's end of input, or the first failure that nobody caught. */
class EndOfProcess {
  hasCrashed = false;
  readonly reached: Promise<StopTimes>;
  private readonly releases: (() => void)[] = [];

  constructor(
    private readonly signals: Signals,
    private readonly parts: Pick<ApplicationParts, "times" | "log">,
  ) {
    this.reached = new Promise((resolve) => this.listen(resolve));
  }

  release(): void {
    for (const release of this.releases) release();
  }

  private listen(stop: (times: StopTimes) => void): void {
    this.signals.listen((signal) => {
      this.parts.log.run(() => log.info("signal received", { signal }));
      stop(this.parts.times);
    });
    this.releases.push(() => this.signals.release());
    this.listenForCrashes(stop);
    if (ipcPath() !== undefined) this.listenForInput(stop);
  }

  private listenForCrashes(stop: (times: StopTimes) => void): void {
    const crash = (error: unknown): void => {
      this.hasCrashed = true;
      this.parts.log.run(() => tellOfCrash(error));
      stop({ drainDelayMs: 0, drainDeadlineMs: CRASH_DEADLINE_MS });
    };
    process.on("uncaughtException", crash).on("unhandledRejection", crash);
    this.releases.push(() => process.off("uncaughtException", crash).off("unhandledRejection", crash));
  }

  private listenForInput(stop: (times: StopTimes) => void): void {
    const ended = (): void => stop({ ...this.parts.times, drainDelayMs: 0 });
    process.stdin.once("end", ended).resume();
    this.releases.push(() => process.stdin.off("end", ended).unref());
  }
}
