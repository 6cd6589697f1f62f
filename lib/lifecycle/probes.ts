/**
 * Asks every subsystem that can be asked whether it works, all at once, each with a deadline. Rounds that are asked for while one is
 * running share it; nothing is kept after it (details, 4.1).
 */
import { type Clock, OVERDUE, within } from "../runtime/clock.js";
import { FrameworkError } from "../errors/framework-error.js";
import type { Profile } from "../runtime/profile.js";
import { tracing } from "../tracing/tracing.js";
import type { Member } from "../subsystems/roster.js";
import { causeText } from "../errors/thrown-value.js";

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
  private readonly probed: readonly Member[];
  private running: Promise<Checks> | undefined;

  constructor(
    members: readonly Member[],
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

  private async check(member: Member): Promise<Check> {
    const { clock, timeoutMs } = this.options;
    const abort = new AbortController();
    try {
      const outcome = await within(clock, timeoutMs, ask(member, abort.signal));
      return outcome === OVERDUE ? this.down(member, timedOut(timeoutMs, abort), "timed out") : UP;
    } catch (error) {
      return this.down(member, error, "failed");
    }
  }

  private down({ name }: Member, error: unknown, publicReason: string): Check {
    if (this.options.profile === "debug") return { status: "down", reason: causeText(error) };
    log.warn("probe failed", { check: name, error });
    return { status: "down", reason: publicReason };
  }
}

async function ask({ subsystem }: Member, signal: AbortSignal): Promise<void> {
  await subsystem.probe?.(signal);
}

function timedOut(timeoutMs: number, abort: AbortController): FrameworkError {
  const error = new FrameworkError(`timed out after ${timeoutMs} ms`, { code: "E_PROBE_TIMEOUT", status: 503 });
  abort.abort(error);
  return error;
}
