/**
 * Brings the subsystems up, one after the other in their order, and down again in reverse. What was started is undone when a later
 * start fails. It knows nothing of listeners and requests: those are the door's (room `app`).
 *
 * @example
 * const startup = new Startup(new Roster(subsystems).members, clock);
 * if (await startup.start()) await serveUntilTold();
 * const failures = await startup.stop();
 */
import { type Clock, OVERDUE, within, type Timer } from "../runtime/clock.js";
import { FrameworkError } from "../errors/framework-error.js";
import { tracing } from "../tracing/tracing.js";
import type { RegisteredSubsystem } from "./subsystem-registry.js";
import { causeText } from "../errors/thrown-value.js";
import { StartupError, type Diagnostic } from "../errors/diagnostic.js";

/** Calls foreign code that may or may not be async: what it throws at once becomes a rejection too. */
export async function attempt(work: () => unknown): Promise<unknown> {
  return work();
}

/**
 * Stops subsystems in the reverse of the order in which they came up, each within its time. One that fails, or takes too long, is an
 * ERROR event, and the next one is stopped all the same (details, section L).
 */
const teardownLog = tracing.target("framework::lifecycle");

export class Teardown {
  private readonly up: RegisteredSubsystem[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {}

  /** This one is up, and is to be stopped before all those added earlier. */
  add(member: RegisteredSubsystem): void {
    this.up.push(member);
  }

  /** Stops all that were added and not yet stopped; never rejects. One `E_SUBSYSTEM_STOP` for each failure, in the order they came. */
  async run(): Promise<readonly FrameworkError[]> {
    const failures: FrameworkError[] = [];
    for (let member = this.up.pop(); member !== undefined; member = this.up.pop()) {
      const failure = await this.stop(member);
      if (failure !== undefined) failures.push(failure);
    }
    return failures;
  }

  private async stop({ name, subsystem }: RegisteredSubsystem): Promise<FrameworkError | undefined> {
    const began = this.clock.monotonic();
    try {
      const stopping = attempt(() => subsystem.stop());
      if ((await within(this.clock, this.limitMs, stopping)) === OVERDUE) throw overdue(this.limitMs);
    } catch (cause) {
      teardownLog.error("subsystem failed to stop", { subsystem: name, error: cause });
      return new FrameworkError(`${name} failed to stop: ${causeText(cause)}`, { code: "E_SUBSYSTEM_STOP", cause });
    }
    teardownLog.debug("subsystem stopped", {
      subsystem: name,
      duration_ms: Math.trunc(this.clock.monotonic() - began),
    });
    return undefined;
  }
}

function overdue(limitMs: number): Error {
  return new Error(`stop() took longer than ${limitMs} ms`);
}

const log = tracing.target("framework::lifecycle");

/** A start that takes this long is worth a warning, and another one each time it has passed again. */
const SLOW_START_MS = 10_000;

export class Startup {
  private readonly teardown: Teardown;
  private readonly interruption = new AbortController();
  private starting: Promise<boolean> | undefined;
  private stopping: Promise<readonly FrameworkError[]> | undefined;

  /**
   * @param members in start order, as a `Roster` has them
   * @param stopTimeoutMs what each `stop()` may take, and what a running `start()` still may when a stop is asked for
   */
  constructor(
    private readonly members: readonly RegisteredSubsystem[],
    private readonly clock: Clock,
    private readonly stopTimeoutMs = 5_000,
  ) {
    this.teardown = new Teardown(clock, stopTimeoutMs);
  }

  /**
   * Starts everything, once; a second call gives the first one's result.
   *
   * @returns false where `stop()` was called before the end.
   * @throws StartupError with one `E_SUBSYSTEM_START`, and the first failure as its cause; what had been started is stopped by then,
   * and each failure of that is one more finding, `E_SUBSYSTEM_STOP`.
   */
  start(): Promise<boolean> {
    return (this.starting ??= this.startAll());
  }

  /**
   * Stops in reverse whatever is up; idempotent, never rejects. While starting: no further `start()` is called, and the running one
   * is waited for.
   *
   * @returns one `E_SUBSYSTEM_STOP` for every subsystem that failed to stop, or not in time.
   */
  stop(): Promise<readonly FrameworkError[]> {
    return (this.stopping ??= this.stopAll());
  }

  private async stopAll(): Promise<readonly FrameworkError[]> {
    this.interruption.abort();
    // Its failure is told to whoever called `start`.
    await this.starting?.catch(() => false);
    return this.teardown.run();
  }

  private async startAll(): Promise<boolean> {
    for (const member of this.members) {
      if (this.interruption.signal.aborted) return false;
      try {
        await this.startOne(member);
      } catch (error) {
        throw await this.undo(member, error);
      }
    }
    return !this.interruption.signal.aborted;
  }

  private async startOne(member: RegisteredSubsystem): Promise<void> {
    const began = this.clock.monotonic();
    const warning = this.warnWhileSlow(member, began);
    const running = attempt(() => member.subsystem.start());
    try {
      const outcome = await within(this.clock, this.stopTimeoutMs, running, this.interruption.signal);
      if (outcome === OVERDUE) return this.abandon(member, running);
      this.teardown.add(member);
      log.debug("subsystem started", { subsystem: member.name, duration_ms: this.since(began) });
    } finally {
      warning.cancel();
    }
  }

  private warnWhileSlow({ name }: RegisteredSubsystem, began: number): Timer {
    const warn = () => {
      log.warn("subsystem is slow to start", { subsystem: name, waited_ms: this.since(began) });
      timer = this.clock.setTimeout(warn, SLOW_START_MS);
    };
    let timer = this.clock.setTimeout(warn, SLOW_START_MS);
    return { cancel: () => timer.cancel() };
  }

  /** Nobody waits for this start any more; should it succeed after all, it is stopped at once. */
  private abandon(member: RegisteredSubsystem, running: Promise<unknown>): void {
    log.error("subsystem did not start before the stop", { subsystem: member.name, limit_ms: this.stopTimeoutMs });
    const late = async () => {
      this.teardown.add(member);
      await this.teardown.run();
    };
    running.then(late, (error: unknown) => log.warn("late failure", { subsystem: member.name, error }));
  }

  private async undo(member: RegisteredSubsystem, cause: unknown): Promise<StartupError> {
    log.error("subsystem failed to start", { subsystem: member.name, error: cause });
    const later = await this.teardown.run();
    return new StartupError([failedStart(member, cause), ...later.map(failedUndoing)], { cause });
  }

  private since(began: number): number {
    return Math.trunc(this.clock.monotonic() - began);
  }
}

function failedStart({ name, subsystem }: RegisteredSubsystem, cause: unknown): Diagnostic {
  return {
    code: "E_SUBSYSTEM_START",
    what: `${name} failed to start: ${causeText(cause)}`,
    where: `${subsystem.constructor.name}.start()`,
    fix: "see the cause: what it needs must be reachable before the application starts",
  };
}

function failedUndoing({ code, message }: FrameworkError): Diagnostic {
  return {
    code,
    what: message,
    where: "undoing the start",
    fix: "fix the first failure; see the events for this one",
  };
}
