/**
 * One run of an application, from the first request to the last subsystem that stops. `run()`, `serve()` and the test kit all use it;
 * they differ in the listener and in the cause that stops the run.
 */
import type { Warning } from "../errors/diagnostic.js";
import { OVERDUE, within } from "../runtime/clock.js";
import { tracing } from "../tracing/tracing.js";
import type { ApplicationParts } from "./build.js";
import type { Listener, ServerAttachment } from "../server/listener.js";
import { drain, type DrainResult } from "../server/drain.js";

const log = tracing.target("framework::lifecycle");

export interface StopResult extends DrainResult {
  /** Subsystems that failed to stop, and hooks of any kind that did not end in time. */
  readonly failed: number;
}

const NO_CONNECTIONS: DrainResult = Object.freeze({ forced: 0, cut: [] });

export interface StopTimes {
  readonly drainDelayMs: number;
  readonly drainDeadlineMs: number;
}

/** Browsers and people write `localhost`, and cookies and CORS compare the text. */
const LOOPBACK = /\/\/(?:127\.0\.0\.1|\[::1\]):/;

/** Receives the warnings of the start and the failures of the stop, for a process that has no log. */
export type RunReport = (what: string, detail?: unknown) => void;

/** A run without a listener serves no requests: `work()` uses it. */
export class ApplicationRun<L extends Listener | undefined = Listener> {
  private stopping: Promise<StopResult> | undefined;
  /** Disposals and shutdowns that did not end in time. */
  private overruns = 0;

  constructor(
    private readonly parts: ApplicationParts,
    readonly listener: L,
    private readonly report: RunReport = () => undefined,
  ) {}

  /** Starts the subsystems while requests are refused, then serves. False if a stop came before the end of the start. */
  start(): Promise<boolean> {
    this.followListener();
    return this.parts.log.run(() => this.stopOnFailure(() => this.boot()));
  }

  /** Starts the subsystems alone: nothing is served, and no job or schedule runs. False if a stop came before the end of the start. */
  startSubsystems(): Promise<boolean> {
    const { lifecycle, log: logs, startup } = this.parts;
    return logs.run(() => this.stopOnFailure(async () => (await startup.start()) && lifecycle.markReady()));
  }

  /** Serves at once, without starting the subsystems. */
  open(attachments: readonly ServerAttachment[]): Promise<void> {
    this.followListener();
    return this.parts.log.run(() =>
      this.stopOnFailure(async () => {
        await this.listener?.attach(attachments);
        this.serve();
      }),
    );
  }

  /** Drains, stops the subsystems in reverse order, then shuts down the `ShutdownLast` objects. A second call waits for the first. */
  stop(times: StopTimes): Promise<StopResult> {
    return (this.stopping ??= this.parts.log.run(() => this.stopAll(times)));
  }

  /** Logs each warning, and reports it for a process that has no log. */
  warn(warnings: readonly Warning[]): void {
    for (const { message, fields } of warnings) {
      log.warn(message, fields);
      this.report(message, fields);
    }
  }

  /** Called before the subsystems start, because they may create URLs. A socket path has no URL. */
  private followListener(): void {
    if (typeof this.listener?.address === "object" && this.listener.address !== null) {
      this.parts.config.followListener(getListenerUrl(this.listener).replace(LOOPBACK, "//localhost:"));
    }
  }

  private async boot(): Promise<boolean> {
    const { startup, readiness, subsystems } = this.parts;
    if (!(await startup.start())) return false;
    await startup.beginWork(this.listener === undefined ? "worker" : "web");
    if (this.stopping !== undefined) return false;
    readiness.startProbing(subsystems.members);
    this.serve();
    return true;
  }

  private serve(): void {
    const { lifecycle, booting, csrfExempt } = this.parts;
    this.warn(this.parts.warnings());
    if (csrfExempt.length > 0) log.info("routes are exempt from the CSRF check", { routes: csrfExempt });
    booting.isBooting = false;
    lifecycle.markReady();
  }

  /** The listener accepts connections already, so a failure of `start` must close it and stop the subsystems that were started. */
  private async stopOnFailure<T>(start: () => T | Promise<T>): Promise<T> {
    try {
      return await start();
    } catch (error) {
      // An earlier stop does all of this.
      await (this.stopping ??= this.abandon(error));
      throw error;
    }
  }

  /** Rejects with the error. A stop that is called meanwhile rejects with it, too. */
  private async abandon(error: unknown): Promise<never> {
    this.listener?.stop();
    this.listener?.closeAll();
    await this.parts.startup.endWork(0);
    await this.parts.startup.stop();
    await this.dispose();
    await this.shutDownLast();
    await this.closeLog();
    throw error;
  }

  private async stopAll({ drainDelayMs: delayMs, drainDeadlineMs: deadlineMs }: StopTimes): Promise<StopResult> {
    const { listener } = this;
    const { lifecycle, clock, koa, startup } = this.parts;
    const isBooting = lifecycle.state === "booting";
    lifecycle.beginDrain();
    // A running start learns of the stop before the drain, and starts no further subsystem.
    const stopped = isBooting ? startup.stop() : undefined;
    const { connections } = koa;
    const ending = startup.endWork(deadlineMs);
    const { forced, cut } =
      listener === undefined ? NO_CONNECTIONS : await drain({ listener, connections, clock, delayMs, deadlineMs });
    await ending;
    const listening = await this.parts.events.waitUntilIdle(this.parts.times.stopTimeoutMs);
    if (listening.length > 0) this.report(`listeners did not end before the stop: ${listening.join(", ")}`);
    const failures = await (stopped ?? startup.stop());
    for (const { message } of failures) this.report(message);
    await this.dispose();
    await this.shutDownLast();
    lifecycle.markStopped();
    const failed = (): number => failures.length + listening.length + this.overruns;
    log.info("stopped", { forced, failed: failed() });
    await this.closeLog();
    return { forced, cut, failed: failed() };
  }

  /** Limits the time of a hook that runs at the stop. Without a limit one hook could keep the process alive for ever. */
  private readonly limitTime = async (hook: unknown): Promise<void> => {
    const limitMs = this.parts.times.stopTimeoutMs;
    if ((await within(this.parts.clock, limitMs, Promise.resolve(hook))) !== OVERDUE) return;
    this.overruns += 1;
    throw new Error(`took longer than ${limitMs} ms`);
  };

  private async dispose(): Promise<void> {
    try {
      await this.parts.container.dispose(this.parts.log.sink, this.limitTime);
    } catch (error) {
      log.error("dispose failed", { error });
      this.report("dispose failed", error);
    }
  }

  private async shutDownLast(): Promise<void> {
    for (const each of this.parts.shutdownLast) {
      try {
        await this.limitTime(each.shutdown());
      } catch (error) {
        log.warn("shutdown failed", { error });
        this.report("shutdown failed", error);
      }
    }
  }

  /** Runs last, because all other steps log. A failure cannot be logged, because the log itself failed. */
  private async closeLog(): Promise<void> {
    await this.parts.container.disposeOfExcepted(this.limitTime).catch(() => undefined);
  }
}

/** A URL that a browser can open: `localhost` for a wildcard address, brackets around IPv6. A socket path is returned as it is. */
export function getListenerUrl({ address, scheme }: Pick<Listener, "address" | "scheme">): string {
  if (address === null) return "";
  if (typeof address === "string") return address;
  const { address: host, family, port } = address;
  if (host === "0.0.0.0" || host === "::") return `${scheme}://localhost:${port}`;
  return `${scheme}://${family === "IPv6" ? `[${host}]` : host}:${port}`;
}
