/**
 * Whether the application should receive traffic: its lifecycle, and the probes of its subsystems. Inject it where the answer matters
 * beyond the health endpoints, for example to leave a queue alone while draining. It can be read and not set: an application
 * that wants no traffic gives one of its subsystems a probe that says so.
 *
 * @example
 * constructor(private readonly readiness: Readiness) {}
 * poll() { if (this.readiness.isReady) return this.queue.take(); }
 */
import { type Clock, OVERDUE, within } from "../runtime/clock.js";
import { FrameworkError } from "../errors/framework-error.js";
import { type Profile, profile } from "../runtime/profile.js";
import { tracing } from "../tracing/tracing.js";
import type { RegisteredSubsystem } from "./subsystem-registry.js";
import { causeText } from "../errors/thrown-value.js";
import type { Lifecycle, LifecycleState } from "./state.js";

/**
 * Asks every subsystem that can be asked whether it works, all at once, each with a deadline. Rounds that are asked for while one is
 * running share it; nothing is kept after it (details, 4.1).
 */
const log = tracing.target("framework::lifecycle");

export type Check = { readonly status: "up" } | { readonly status: "down"; readonly reason: string };

/** By the subsystem's name, in name order. */
export type Checks = Readonly<Record<string, Check>>;

export interface ProbesOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** In release a reason does not tell what the error said; an event does. */
  readonly profile: Profile;
}

const UP: Check = { status: "up" };

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
    return (this.running ??= this.round());
  }

  private async round(): Promise<Checks> {
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
      const outcome = await within(clock, timeoutMs, ask(member, abort.signal));
      return outcome === OVERDUE ? this.down(member, timedOut(timeoutMs, abort), "timed out") : UP;
    } catch (error) {
      return this.down(member, error, "failed");
    }
  }

  private down({ name }: RegisteredSubsystem, error: unknown, publicReason: string): Check {
    if (this.options.profile === "debug") return { status: "down", reason: causeText(error) };
    log.warn("probe failed", { check: name, error });
    return { status: "down", reason: publicReason };
  }
}

async function ask({ subsystem }: RegisteredSubsystem, signal: AbortSignal): Promise<void> {
  await subsystem.probe?.(signal);
}

function timedOut(timeoutMs: number, abort: AbortController): FrameworkError {
  const error = new FrameworkError(`timed out after ${timeoutMs} ms`, { code: "E_PROBE_TIMEOUT", status: 503 });
  abort.abort(error);
  return error;
}

/** What `/up/ready` says. */
export interface ReadinessReport {
  readonly state: LifecycleState;
  readonly ready: boolean;
  /** Left out where nothing was probed. */
  readonly checks?: Checks;
}

export interface ReadinessOptions {
  readonly clock: Clock;
  /** What each probe may take; 1 s unless given. */
  readonly probeTimeoutMs?: number;
  readonly profile?: Profile;
}

export class Readiness {
  private probes: Probes | undefined;

  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly options: ReadinessOptions,
  ) {}

  get state(): LifecycleState {
    return this.lifecycle.state;
  }

  /** By the lifecycle alone; no probe is asked. */
  get isReady(): boolean {
    return this.lifecycle.state === "ready";
  }

  /** The whole answer; a promise only where a probe has to be asked. Probes run in the state `ready` alone. Never rejects. */
  report(): ReadinessReport | Promise<ReadinessReport> {
    if (!this.isReady || this.probes === undefined || this.probes.isEmpty) return this.unprobed();
    return this.probes.run().then((checks) => this.probed(checks));
  }

  /** @internal What has been started and may be probed from now on. */
  startProbing(members: readonly RegisteredSubsystem[]): void {
    const { clock, probeTimeoutMs = 1_000, profile: chosen = profile } = this.options;
    this.probes = new Probes(members, { clock, timeoutMs: probeTimeoutMs, profile: chosen });
  }

  private unprobed(): ReadinessReport {
    return { state: this.state, ready: this.isReady };
  }

  private probed(checks: Checks): ReadinessReport {
    // A drain may have begun while the probes ran.
    if (!this.isReady) return this.unprobed();
    return { state: this.state, ready: Object.values(checks).every(({ status }) => status === "up"), checks };
  }
}
