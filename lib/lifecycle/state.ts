/**
 * The state of one process, forward only: booting → ready → draining → stopped (specification 3.1). One per application; it is the
 * source of the health answers. Application code reads it through `Readiness`, and only `run()` and `serve()` move it.
 *
 * @example
 * lifecycle.markReady();
 * lifecycle.beginDrain(); // a signal came: `/up/ready` is 503 from here on
 * lifecycle.markStopped();
 */
import { FrameworkError } from "../errors/framework-error.js";

export type LifecycleState = "booting" | "ready" | "draining" | "stopped";

export class Lifecycle {
  private current: LifecycleState = "booting";

  get state(): LifecycleState {
    return this.current;
  }

  /**
   * Everything has started.
   *
   * @returns whether the application is ready now: after `beginDrain` it stays what it is.
   * @throws FrameworkError `E_LIFECYCLE_MOVE` when it was ready already.
   */
  markReady(): boolean {
    if (this.current === "ready") throw nonsense("ready", "ready");
    if (this.current === "booting") this.current = "ready";
    return this.current === "ready";
  }

  /**
   * The way down begins; idempotent, and allowed while booting.
   *
   * @returns whether this call was the one that began it.
   */
  beginDrain(): boolean {
    if (this.current === "draining" || this.current === "stopped") return false;
    this.current = "draining";
    return true;
  }

  /**
   * Everything has stopped.
   *
   * @throws FrameworkError `E_LIFECYCLE_MOVE` from any state but draining.
   */
  markStopped(): void {
    if (this.current !== "draining") throw nonsense(this.current, "stopped");
    this.current = "stopped";
  }
}

function nonsense(from: LifecycleState, to: LifecycleState): FrameworkError {
  return new FrameworkError(
    `the lifecycle cannot move from ${from} to ${to}: it goes booting, ready, draining, stopped, one step at a time`,
    { code: "E_LIFECYCLE_MOVE" },
  );
}
