/**
 * Whether the application should receive traffic: its lifecycle, and the probes of its subsystems. Inject it where the answer matters
 * beyond the health endpoints, for example to leave a queue alone while draining. It can be read and not set: an application
 * that wants no traffic gives one of its subsystems a probe that says so.
 *
 * @example
 * constructor(private readonly readiness: Readiness) {}
 * poll() { if (this.readiness.isReady) return this.queue.take(); }
 */
import type { Clock } from "../runtime/clock.js";
import { profile, type Profile } from "../runtime/profile.js";
import type { Member } from "../subsystems/roster.js";
import type { Lifecycle, LifecycleState } from "./lifecycle.js";
import { Probes, type Checks } from "./probes.js";

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
  fill(members: readonly Member[]): void {
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
