/**
 * One time of serving: from the open door to the last subsystem stopped. `run()`, `serve()` and the test kit differ only in
 * who opens the door and who says when it is over.
 */
import { tracing } from "../tracing/tracing.js";
import type { ApplicationParts } from "./build.js";
import type { Listener } from "../server/listener.js";
import { drain, type Drained } from "../server/drain.js";

const log = tracing.target("framework::lifecycle");

/** What the end came to. */
export interface Ended extends Drained {
  /** Subsystems that failed to stop, or not in time. */
  readonly failed: number;
}

export interface StopTimes {
  readonly drainDelayMs: number;
  readonly drainDeadlineMs: number;
}

export class Service {
  private ending: Promise<Ended> | undefined;

  constructor(
    private readonly parts: ApplicationParts,
    readonly door: Listener,
  ) {}

  /** Starts the subsystems while requests are refused, then lets them in. False where a stop came in between. */
  start(): Promise<boolean> {
    return this.parts.log.run(() => this.undoing(() => this.boot()));
  }

  /** Lets requests in at once; no subsystem is started. */
  open(): Promise<void> {
    return this.parts.log.run(() => this.undoing(() => this.letIn()));
  }

  /** Drains, stops what was started in reverse, then what must come last. A second call waits for the first. */
  stop(times: StopTimes): Promise<Ended> {
    return (this.ending ??= this.parts.log.run(() => this.end(times)));
  }

  private async boot(): Promise<boolean> {
    const { startup, readiness, roster, entrance } = this.parts;
    entrance.setHandler(this.parts.entry("booting"));
    if (!(await startup.start())) return false;
    readiness.startProbing(roster.members);
    this.letIn();
    return true;
  }

  /** Whatever fails while the door is open leaves nothing open, and nothing started. */
  private async undoing<T>(begin: () => T | Promise<T>): Promise<T> {
    try {
      return await begin();
    } catch (error) {
      this.door.stop();
      this.door.closeAll();
      await this.parts.startup.stop();
      await this.dispose();
      await this.shutDownLast();
      await this.closeLog();
      throw error;
    }
  }

  private letIn(): void {
    const { lifecycle, entrance } = this.parts;
    for (const { message, fields } of this.parts.warnings()) log.warn(message, fields);
    entrance.setHandler(this.parts.entry("ready"));
    lifecycle.markReady();
  }

  private async end({ drainDelayMs: delayMs, drainDeadlineMs: deadlineMs }: StopTimes): Promise<Ended> {
    const { lifecycle, clock, entrance, startup } = this.parts;
    const isBooting = lifecycle.state === "booting";
    lifecycle.beginDrain();
    const { connections } = entrance;
    // A start that is under way is told at once; it may finish what it is at.
    const stopped = isBooting ? startup.stop() : undefined;
    const { forced, cut } = await drain({ door: this.door, connections, clock, delayMs, deadlineMs });
    const failures = await (stopped ?? startup.stop());
    await this.dispose();
    await this.shutDownLast();
    lifecycle.markStopped();
    log.info("stopped", { forced, failed: failures.length });
    await this.closeLog();
    return { forced, cut, failed: failures.length };
  }

  private async dispose(): Promise<void> {
    try {
      await this.parts.container.dispose(this.parts.log.sink);
    } catch (error) {
      log.error("dispose failed", { error });
    }
  }

  /** Last of all: until here there was something to write. */
  private async closeLog(): Promise<void> {
    // A log that cannot be closed has nobody to tell it to.
    await this.parts.container.disposeOfExcepted().catch(() => undefined);
  }

  private async shutDownLast(): Promise<void> {
    for (const each of this.parts.last) {
      try {
        await each.shutdown();
      } catch (error) {
        log.warn("shutdown failed", { error });
      }
    }
  }
}

/** The address as a URL a person can open: a wildcard is shown as localhost, IPv6 in brackets, a socket path as it is. */
export function urlOf({ address: at, scheme }: Pick<Listener, "address" | "scheme">): string {
  if (at === null) return "";
  if (typeof at === "string") return at;
  const { address: host, family, port } = at;
  if (host === "0.0.0.0" || host === "::") return `${scheme}://localhost:${port}`;
  return `${scheme}://${family === "IPv6" ? `[${host}]` : host}:${port}`;
}
