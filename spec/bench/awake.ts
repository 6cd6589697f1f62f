/**
 * Keeps processors awake that have nothing to do, as the profile `latency-performance` of tuned does. On a virtual machine it costs a process
 * several microseconds to send to another one whose processor sleeps. A server that answers slowly lets the load generator sleep more often,
 * so its answers would cost more than those of a faster one for the same work.
 */
import { openSync, writeSync } from "node:fs";

/** Linux holds a processor awake for as long as the file is open, here until the end of the run. */
const WISH = "/dev/cpu_dma_latency";

/** Whether the system has taken the wish; it takes it from root alone. */
export function keepAwake(): boolean {
  try {
    // The longest time for waking, in microseconds, as a whole number of 32 bits.
    writeSync(openSync(WISH, "w"), Buffer.alloc(4));
    return true;
  } catch {
    return false;
  }
}
