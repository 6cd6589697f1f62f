/**
 * The state of one application in its process: booting → ready → draining → stopped, never backwards. The health endpoints report
 * it. Application code reads it through `Readiness`; only `run()` and `serve()` change it.
 *
 * @example
 * lifecycle.markReady();
 * lifecycle.beginDrain(); // on a signal: `/up/ready` responds with 503 from here on
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
   * Call it when all subsystems have started. After `beginDrain` it has no effect.
   *
   * @returns whether the application is ready now.
   * @throws FrameworkError `E_LIFECYCLE_MOVE` when it was ready already.
   */
  markReady(): boolean {
    if (this.current === "ready") throw createMoveError("ready", "ready");
    if (this.current === "booting") this.current = "ready";
    return this.current === "ready";
  }

  /**
   * Starts the drain; idempotent, and allowed while booting.
   *
   * @returns whether this call started it.
   */
  beginDrain(): boolean {
    if (this.current === "draining" || this.current === "stopped") return false;
    this.current = "draining";
    return true;
  }

  /**
   * Call it when all subsystems have stopped.
   *
   * @throws FrameworkError `E_LIFECYCLE_MOVE` from any state but draining.
   */
  markStopped(): void {
    if (this.current !== "draining") throw createMoveError(this.current, "stopped");
    this.current = "stopped";
  }
}

function createMoveError(from: LifecycleState, to: LifecycleState): FrameworkError {
  return new FrameworkError(
    `the lifecycle cannot move from ${from} to ${to}: its states are booting, ready, draining, stopped, in this order`,
    { code: "E_LIFECYCLE_MOVE" },
  );
}
