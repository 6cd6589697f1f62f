/**
 * Tells `run()` to stop: at the first signal, at the first uncaught error, or when the development supervisor closes standard input.
 * `serve()` and `callback()` do not use it: there the process belongs to the caller.
 */
import { describeThrown, inspectThrown } from "../errors/thrown-value.js";
import { Signals, type SignalSource } from "../server/signals.js";
import { currentSubscriber } from "../tracing/flow.js";
import { tracing } from "../tracing/tracing.js";
import type { StopTimes } from "./application-run.js";
import type { ApplicationParts } from "./build.js";
import { findSupervisorAddress } from "./listen-address.js";

const log = tracing.target("framework::lifecycle");

/**
 * After an uncaught error the state of the process is unknown, so requests in flight have less time than in a normal drain, whose times are
 * those of `lib/lifecycle/lifecycle-options.ts`.
 */
export const CRASH_TIMES: StopTimes = { drainDelayMs: 0, drainDeadlineMs: 5000 };

export class ProcessEnd {
  /** An uncaught error was seen. */
  hasCrashed = false;
  /** Resolves at the first cause to stop, with the times for the stop. */
  readonly stopRequested: Promise<StopTimes>;
  private readonly signals: Signals;
  private readonly releases: (() => void)[] = [];

  constructor(
    private readonly parts: Pick<ApplicationParts, "clock" | "times" | "log">,
    signals?: SignalSource,
  ) {
    this.signals = new Signals(parts.clock, signals);
    this.stopRequested = new Promise((resolve) => this.listen(resolve));
  }

  /** Removes all listeners. */
  release(): void {
    for (const release of this.releases) release();
  }

  private listen(stop: (times: StopTimes) => void): void {
    this.signals.listen((signal) => {
      this.parts.log.run(() => log.info("signal received", { signal }));
      stop(this.parts.times);
    });
    this.releases.push(() => this.signals.release());
    this.releases.push(
      listenForCrashes((error) => {
        this.hasCrashed = true;
        this.parts.log.run(() => reportCrash(error));
        stop(CRASH_TIMES);
      }),
    );
    if (findSupervisorAddress() !== undefined) this.listenForEndOfInput(stop);
  }

  private listenForEndOfInput(stop: (times: StopTimes) => void): void {
    const end = (): void => stop({ ...this.parts.times, drainDelayMs: 0 });
    process.stdin.once("end", end).resume();
    this.releases.push(() => process.stdin.off("end", end).unref());
  }
}

/** Calls `crash` for each uncaught error. The result removes the listeners. */
export function listenForCrashes(crash: (error: unknown) => void): () => void {
  process.on("uncaughtException", crash).on("unhandledRejection", crash);
  // The report of a closed standard error (EPIPE, as behind `| head`) would fail with the same error again and again.
  process.stderr.on("error", ignore);
  return () => {
    process.off("uncaughtException", crash).off("unhandledRejection", crash);
    process.stderr.off("error", ignore);
  };
}

function ignore(): void {}

export function reportCrash(error: unknown): void {
  log.error("uncaught failure", describeThrown(error));
  // The listener prevents Node from printing the error, so without a subscriber the process would end without any message.
  if (currentSubscriber() === undefined) writeFailure("uncaught failure", error);
}

/** For failures that no log subscriber reports. */
export function writeFailure(what: string, thrown: unknown): void {
  process.stderr.write(`${what}: ${inspectThrown(thrown)}\n`);
}
