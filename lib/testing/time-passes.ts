/**
 * Lets a `FakeClock` go on with the machine's time while something that needs time runs: nobody is left to move it when a test is over
 * and the application drains.
 */
import type { Clock } from "../runtime/clock.js";
import { FakeClock } from "./fake-clock.js";

const STEP_MS = 20;

export async function timePasses<T>(clock: Clock, during: () => Promise<T>): Promise<T> {
  if (!(clock instanceof FakeClock)) return during();
  const timer = setInterval(() => clock.advance(STEP_MS), STEP_MS);
  try {
    return await during();
  } finally {
    clearInterval(timer);
  }
}
