/**
 * Reports whether the application should receive traffic, from its lifecycle and the probes of its subsystems. Inject it where code
 * besides the health endpoints depends on the state, for example to stop reading from a queue during a drain. It is read-only: an
 * application that must refuse traffic gives one of its subsystems a probe that fails.
 *
 * @example
 * constructor(private readonly readiness: Readiness) {}
 * poll() { if (this.readiness.isReady) return this.queue.take(); }
 */
import { FrameworkError } from "../errors/framework-error.js";
import { causeText } from "../errors/thrown-value.js";
import { type Clock, OVERDUE, within } from "../runtime/clock.js";
import { type Profile, profile } from "../runtime/profile.js";
import { tracing } from "../tracing/tracing.js";
import type { Lifecycle, LifecycleState } from "./state.js";
import type { RegisteredSubsystem } from "./subsystem-registry.js";

const log = tracing.target("framework::lifecycle");

export type Check = { readonly status: "up" } | { readonly status: "down"; readonly reason: string };

/** By the subsystem's name, sorted by name. */
export type Checks = Readonly<Record<string, Check>>;

/** The content of `/up/ready`. */
export interface ReadinessReport {
  readonly state: LifecycleState;
  readonly ready: boolean;
  /** Left out where no subsystem was probed. */
  readonly checks?: Checks;
  /** Only with `runWorkers()`. */
  readonly workers?: WorkerCounts;
}

/** How many workers of `runWorkers()` there are. */
export interface WorkerCounts {
  /** Workers that serve. */
  readonly ready: number;
  /** Workers that serve, start or drain. */
  readonly all: number;
}

/** The readiness of all workers, for a worker. @internal */
export interface SharedReadiness {
  /** Undefined where this process alone knows. */
  find(): { readonly state: LifecycleState; readonly workers: WorkerCounts } | undefined;
  /** The checks of all workers that serve. Never rejects. */
  check(): Promise<Checks>;
}

export interface ReadinessOptions {
  readonly clock: Clock;
  /** The limit of each probe; 1 000 unless given. */
  readonly probeTimeoutMs?: number;
  readonly profile?: Profile;
}

export class Readiness {
  private probes: Probes | undefined;
  private shared: SharedReadiness | undefined;

  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly options: ReadinessOptions,
  ) {}

  get state(): LifecycleState {
    return this.lifecycle.state;
  }

  /** By the lifecycle of this process alone, without probes. */
  get isReady(): boolean {
    return this.lifecycle.state === "ready";
  }

  /**
   * A promise only where a probe has to run. Probes run in the state `ready` only. With `runWorkers()` it is the report of the service: it
   * is ready if a worker serves and no check fails in any of them. Never rejects.
   */
  report(): ReadinessReport | Promise<ReadinessReport> {
    const { probes, shared } = this;
    // The subsystems of all workers are the same.
    if (!this.isServiceReady || probes?.isEmpty === true) return this.withoutChecks();
    if (shared?.find() !== undefined) return shared.check().then((checks) => this.withChecks(checks));
    return probes === undefined ? this.withoutChecks() : probes.run().then((checks) => this.withChecks(checks));
  }

  /** The checks of this process; none unless it serves. @internal */
  async checkAlone(): Promise<Checks> {
    const checks = this.isReady ? await this.probes?.run() : undefined;
    // A drain may have started while the probes ran, and stopped subsystems meanwhile.
    return this.isReady && checks !== undefined ? checks : {};
  }

  /** The limit of each probe in milliseconds. @internal */
  get probeTimeoutMs(): number {
    return this.options.probeTimeoutMs ?? 1_000;
  }

  /** Reports the readiness of all workers from now on. @internal */
  share(shared: SharedReadiness): void {
    this.shared = shared;
  }

  /** @internal Probes these subsystems, which have started, from now on. */
  startProbing(members: readonly RegisteredSubsystem[]): void {
    const { clock, profile: chosen = profile } = this.options;
    this.probes = new Probes(members, { clock, timeoutMs: this.probeTimeoutMs, profile: chosen });
  }

  private get isServiceReady(): boolean {
    return (this.shared?.find()?.state ?? this.state) === "ready";
  }

  private withoutChecks(): ReadinessReport {
    return { state: this.state, ready: this.isServiceReady, ...this.shared?.find() };
  }

  private withChecks(checks: Checks): ReadinessReport {
    // A drain may have started while the probes ran.
    if (!this.isServiceReady) return this.withoutChecks();
    const ready = Object.values(checks).every(({ status }) => status === "up");
    return { ...this.withoutChecks(), ready, ...(Object.keys(checks).length > 0 && { checks }) };
  }
}

const UP: Check = { status: "up" };

export interface ProbesOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** In release the reason hides the text of the error, and an event has it. */
  readonly profile: Profile;
}

/**
 * Probes every subsystem that has a probe, all at once, each with a time limit. Calls during a run share that run; no result is cached
 * after it.
 */
export class Probes {
  private readonly probed: readonly RegisteredSubsystem[];
  private running: Promise<Checks> | undefined;

  constructor(
    members: readonly RegisteredSubsystem[],
    private readonly options: ProbesOptions,
  ) {
    this.probed = members
      .filter(({ subsystem }) => subsystem.probe !== undefined)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  get isEmpty(): boolean {
    return this.probed.length === 0;
  }

  /** Never rejects. */
  run(): Promise<Checks> {
    return (this.running ??= this.probeAll());
  }

  private async probeAll(): Promise<Checks> {
    const entries = this.probed.map(async (member) => [member.name, await this.check(member)] as const);
    try {
      return Object.fromEntries(await Promise.all(entries));
    } finally {
      this.running = undefined;
    }
  }

  private async check(member: RegisteredSubsystem): Promise<Check> {
    const { clock, timeoutMs } = this.options;
    const abort = new AbortController();
    try {
      const outcome = await within(clock, timeoutMs, probe(member, abort.signal));
      return outcome === OVERDUE ? this.toDownCheck(member, abortProbe(timeoutMs, abort), "timed out") : UP;
    } catch (error) {
      return this.toDownCheck(member, error, "failed");
    }
  }

  private toDownCheck({ name }: RegisteredSubsystem, error: unknown, publicReason: string): Check {
    if (this.options.profile === "debug") return { status: "down", reason: causeText(error) };
    log.warn("probe failed", { check: name, error });
    return { status: "down", reason: publicReason };
  }
}

/** Async, so that an error that a probe throws at once becomes a rejection. */
async function probe({ subsystem }: RegisteredSubsystem, signal: AbortSignal): Promise<void> {
  await subsystem.probe?.(signal);
}

function abortProbe(timeoutMs: number, abort: AbortController): FrameworkError {
  const error = new FrameworkError(`timed out after ${timeoutMs} ms`, { code: "E_PROBE_TIMEOUT", status: 503 });
  abort.abort(error);
  return error;
}
