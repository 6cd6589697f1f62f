/**
 * Starts the subsystems one after the other, and stops them in reverse. When one start fails, the subsystems that are up are stopped
 * again. The listener and the requests belong to the room `server`.
 *
 * @example
 * const startup = new Startup(new SubsystemRegistry(subsystems).members, clock);
 * if (await startup.start()) await serveUntilStopped();
 * const failures = await startup.stop();
 */
import { DiagnosticError, StartupError, type Diagnostic } from "../errors/diagnostic.js";
import { FrameworkError } from "../errors/framework-error.js";
import { causeText } from "../errors/thrown-value.js";
import { type Clock, OVERDUE, within, type Timer } from "../runtime/clock.js";
import { tracing } from "../tracing/tracing.js";
import type { Subsystem, WorkingProcess } from "./subsystem.js";
import type { RegisteredSubsystem } from "./subsystem-registry.js";

const log = tracing.target("framework::lifecycle");

/** A start that takes this long is a WARN event, which is repeated at this interval. */
const SLOW_START_MS = 10_000;

export class Startup {
  private readonly teardown: Teardown;
  private readonly interruption = new AbortController();
  private starting: Promise<boolean> | undefined;
  private stopping: Promise<readonly FrameworkError[]> | undefined;
  private stoppingWork: Promise<readonly FrameworkError[]> | undefined;
  private working: Promise<void> | undefined;
  /** The subsystems whose `beginWork` was called. */
  private readonly atWork = new Set<RegisteredSubsystem>();
  private deferred: WorkingProcess | "not yet" | undefined;
  private reportWorkEnd: () => void = () => undefined;
  /** Resolves when `endWork` has ended. */
  readonly workEnded = new Promise<void>((resolve) => (this.reportWorkEnd = resolve));
  /** The subsystem whose `beginWork` runs. */
  private startingMember: RegisteredSubsystem | undefined;
  /** The starts that the stop did not wait for. */
  private readonly abandoned: FrameworkError[] = [];

  /**
   * @param members in start order, as a `SubsystemRegistry` has them
   * @param stopTimeoutMs the limit of each `stop()`, and of a `start()` or `beginWork()` that still runs when `stop` is called
   */
  constructor(
    private readonly members: readonly RegisteredSubsystem[],
    private readonly clock: Clock,
    private readonly stopTimeoutMs = 5_000,
  ) {
    this.teardown = new Teardown(clock, stopTimeoutMs);
  }

  /**
   * Starts all subsystems. A second call returns the promise of the first.
   *
   * @returns false where `stop()` was called before the end.
   * @throws StartupError with the diagnostic `E_SUBSYSTEM_START` and the failure as its cause. The subsystems that were up are stopped
   * by then; each of them that failed to stop adds one `E_SUBSYSTEM_STOP`.
   */
  start(): Promise<boolean> {
    return (this.starting ??= this.startAll());
  }

  /**
   * Stops all subsystems that are up, in reverse. Never rejects; a second call returns the promise of the first. During the start no
   * further `start()` is called, and the running one is awaited. Each wait has a limit.
   *
   * @returns one `E_SUBSYSTEM_STOP` for every hook of a subsystem that failed, or did not end in time.
   */
  stop(): Promise<readonly FrameworkError[]> {
    return (this.stopping ??= this.stopAll());
  }

  /** Calls `beginWork` of every subsystem, in start order. @throws as `start` does; it stops no subsystem */
  beginWork(process: WorkingProcess): Promise<void> {
    if (this.deferred === undefined) return (this.working ??= this.startWork(this.members, process));
    this.deferred = process;
    return Promise.resolve();
  }

  /** From now on `beginWork` begins nothing, and `startDeferred` does: for a process that another one tells when to work. */
  deferWork(): void {
    this.deferred ??= "not yet";
  }

  /**
   * Calls `beginWork` of the chosen subsystems, and of none a second time. False after `endWork`: nothing has begun.
   *
   * @throws as `beginWork`
   */
  async startDeferred(isChosen: (subsystem: Subsystem) => boolean): Promise<boolean> {
    const { deferred, working } = this;
    if (deferred === undefined || deferred === "not yet" || this.stoppingWork !== undefined) return false;
    const chosen = this.members.filter((member) => isChosen(member.subsystem) && !this.atWork.has(member));
    const start = async (): Promise<void> => {
      await working;
      await this.startWork(chosen, deferred);
    };
    await (this.working = start());
    return true;
  }

  private async startWork(members: readonly RegisteredSubsystem[], process: WorkingProcess): Promise<void> {
    for (const member of members) {
      if (this.interruption.signal.aborted || this.stoppingWork !== undefined) return;
      this.atWork.add(member);
      this.startingMember = member;
      try {
        await member.subsystem.beginWork?.(process);
      } catch (error) {
        log.error("subsystem failed to start", { subsystem: member.name, error });
        throw new StartupError([toStartDiagnostic(member, error)], { cause: error });
      } finally {
        this.startingMember = undefined;
      }
    }
  }

  /**
   * Calls `endWork` of every subsystem at once, unless the work never started. Never rejects. A second call returns the promise of the
   * first.
   *
   * @returns one `E_SUBSYSTEM_STOP` for each subsystem that failed to stop its work, or did not stop it in time
   */
  endWork(deadlineMs: number): Promise<readonly FrameworkError[]> {
    return (this.stoppingWork ??= this.stopAllWork(deadlineMs).finally(this.reportWorkEnd));
  }

  private async stopAllWork(deadlineMs: number): Promise<readonly FrameworkError[]> {
    if (this.working === undefined) return [];
    const startFailure = await this.waitForWorkStart(this.working);
    const stopFailures = await Promise.all([...this.atWork].map((member) => this.stopMemberWork(member, deadlineMs)));
    return [startFailure, ...stopFailures].filter((failure) => failure !== undefined);
  }

  private async waitForWorkStart(working: Promise<void>): Promise<FrameworkError | undefined> {
    if (this.startingMember === undefined) return undefined;
    // The caller of `beginWork` gets its failure.
    const settled = working.catch(() => {});
    if ((await within(this.clock, this.stopTimeoutMs, settled)) !== OVERDUE) return undefined;
    const { name } = this.startingMember;
    log.error("subsystem did not start its work before the stop", { subsystem: name, limit_ms: this.stopTimeoutMs });
    return createStopError(name, createOverrunError("beginWork", this.stopTimeoutMs));
  }

  private async stopMemberWork(
    { name, subsystem }: RegisteredSubsystem,
    deadlineMs: number,
  ): Promise<FrameworkError | undefined> {
    // The subsystem applies the deadline itself: work that it aborts then needs time to end.
    const limitMs = deadlineMs + this.stopTimeoutMs;
    try {
      const ending = callAsync(() => subsystem.endWork?.(deadlineMs));
      if ((await within(this.clock, limitMs, ending)) === OVERDUE) throw createOverrunError("endWork", limitMs);
      return undefined;
    } catch (cause) {
      log.error("subsystem failed to stop its work", { subsystem: name, error: cause });
      return createStopError(name, cause);
    }
  }

  private async stopAll(): Promise<readonly FrameworkError[]> {
    this.interruption.abort();
    // The caller of `start` gets its failure.
    await this.starting?.catch(() => false);
    const workFailures = await this.endWork(0);
    return [...this.abandoned, ...workFailures, ...(await this.teardown.run())];
  }

  private async startAll(): Promise<boolean> {
    for (const member of this.members) {
      if (this.interruption.signal.aborted) return false;
      try {
        await this.startOne(member);
      } catch (error) {
        throw await this.stopAfterFailure(member, error);
      }
    }
    return !this.interruption.signal.aborted;
  }

  private async startOne(member: RegisteredSubsystem): Promise<void> {
    const startedAt = this.clock.monotonic();
    const warning = this.warnWhileSlow(member, startedAt);
    const running = callAsync(() => member.subsystem.start());
    try {
      const outcome = await within(this.clock, this.stopTimeoutMs, running, this.interruption.signal);
      if (outcome === OVERDUE) return this.abandon(member, running);
      this.teardown.add(member);
      log.debug("subsystem started", { subsystem: member.name, duration_ms: getElapsedMs(this.clock, startedAt) });
    } finally {
      warning.cancel();
    }
  }

  private warnWhileSlow({ name }: RegisteredSubsystem, startedAt: number): Timer {
    const warn = () => {
      log.warn("subsystem is slow to start", { subsystem: name, waited_ms: getElapsedMs(this.clock, startedAt) });
      timer = this.clock.setTimeout(warn, SLOW_START_MS);
    };
    let timer = this.clock.setTimeout(warn, SLOW_START_MS);
    return { cancel: () => timer.cancel() };
  }

  /** The stop does not wait for this start any more. If the start still succeeds, the subsystem is stopped at once. */
  private abandon(member: RegisteredSubsystem, running: Promise<unknown>): void {
    log.error("subsystem did not start before the stop", { subsystem: member.name, limit_ms: this.stopTimeoutMs });
    this.abandoned.push(createStopError(member.name, createOverrunError("start", this.stopTimeoutMs)));
    const stopAtOnce = async () => {
      this.teardown.add(member);
      await this.teardown.run();
    };
    running.then(stopAtOnce, (error: unknown) => log.warn("late failure", { subsystem: member.name, error }));
  }

  private async stopAfterFailure(member: RegisteredSubsystem, cause: unknown): Promise<StartupError> {
    log.error("subsystem failed to start", { subsystem: member.name, error: cause });
    const stopFailures = await this.teardown.run();
    return new StartupError([toStartDiagnostic(member, cause), ...stopFailures.map(toStopDiagnostic)], { cause });
  }
}

/**
 * Stops subsystems in the reverse of the order in which they were added, each within its time. A failure or an overrun is an ERROR
 * event, and the next subsystem is still stopped.
 */
class Teardown {
  private readonly running: RegisteredSubsystem[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {}

  add(member: RegisteredSubsystem): void {
    this.running.push(member);
  }

  /** Stops each added subsystem once. Never rejects. Returns one `E_SUBSYSTEM_STOP` for each failure, in the order of the stops. */
  async run(): Promise<readonly FrameworkError[]> {
    const failures: FrameworkError[] = [];
    for (let member = this.running.pop(); member !== undefined; member = this.running.pop()) {
      const failure = await this.stop(member);
      if (failure !== undefined) failures.push(failure);
    }
    return failures;
  }

  private async stop({ name, subsystem }: RegisteredSubsystem): Promise<FrameworkError | undefined> {
    const startedAt = this.clock.monotonic();
    try {
      const stopping = callAsync(() => subsystem.stop());
      if ((await within(this.clock, this.limitMs, stopping)) === OVERDUE)
        throw createOverrunError("stop", this.limitMs);
    } catch (cause) {
      log.error("subsystem failed to stop", { subsystem: name, error: cause });
      return createStopError(name, cause);
    }
    log.debug("subsystem stopped", { subsystem: name, duration_ms: getElapsedMs(this.clock, startedAt) });
    return undefined;
  }
}

/** Converts an error that the application's method throws at once to a rejection. */
async function callAsync(method: () => unknown): Promise<unknown> {
  return method();
}

function getElapsedMs(clock: Clock, startedAt: number): number {
  return Math.trunc(clock.monotonic() - startedAt);
}

function createOverrunError(hook: "start" | "beginWork" | "endWork" | "stop", limitMs: number): Error {
  return new Error(`${hook}() took longer than ${limitMs} ms`);
}

function createStopError(name: string, cause: unknown): FrameworkError {
  return new FrameworkError(`${name} failed to stop: ${causeText(cause)}`, { code: "E_SUBSYSTEM_STOP", cause });
}

/** An error of the framework that is a fault of the program keeps its code, and its message says what to do. */
function toStartDiagnostic({ name, subsystem }: RegisteredSubsystem, cause: unknown): Diagnostic {
  if (cause instanceof DiagnosticError) return cause.diagnostic;
  const isProgramFault = cause instanceof FrameworkError && cause.code !== "E_INTERNAL" && cause.status === 500;
  return {
    code: isProgramFault ? cause.code : "E_SUBSYSTEM_START",
    what: `${name} failed to start: ${causeText(cause)}`,
    where: `${subsystem.constructor.name}.start()`,
    fix: isProgramFault
      ? ""
      : "check the address and the credentials; every server that the subsystem connects to must be reachable at the start",
  };
}

function toStopDiagnostic({ code, message }: FrameworkError): Diagnostic {
  return {
    code,
    what: message,
    where: "the stop after the failed start",
    fix: "mend the failed start first; the event `subsystem failed to stop` holds the error of this stop",
  };
}
