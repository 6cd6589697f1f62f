/**
 * Stops subsystems in the reverse of the order in which they came up, each within its time. One that fails, or takes too long, is an
 * ERROR event, and the next one is stopped all the same (details, section L).
 */
import { type Clock, OVERDUE, within } from "../runtime/clock.js";
import { FrameworkError } from "../errors/framework-error.js";
import { tracing } from "../tracing/tracing.js";
import type { Member } from "../subsystems/roster.js";
import { attempt } from "./attempt.js";
import { causeText } from "../errors/thrown-value.js";

const log = tracing.target("framework::lifecycle");

export class Teardown {
  private readonly up: Member[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {}

  /** This one is up, and is to be stopped before all those added earlier. */
  add(member: Member): void {
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

  private async stop({ name, subsystem }: Member): Promise<FrameworkError | undefined> {
    const began = this.clock.monotonic();
    try {
      const stopping = attempt(() => subsystem.stop());
      if ((await within(this.clock, this.limitMs, stopping)) === OVERDUE) throw overdue(this.limitMs);
    } catch (cause) {
      log.error("subsystem failed to stop", { subsystem: name, error: cause });
      return new FrameworkError(`${name} failed to stop: ${causeText(cause)}`, { code: "E_SUBSYSTEM_STOP", cause });
    }
    log.debug("subsystem stopped", { subsystem: name, duration_ms: Math.trunc(this.clock.monotonic() - began) });
    return undefined;
  }
}

function overdue(limitMs: number): Error {
  return new Error(`stop() took longer than ${limitMs} ms`);
}
