/**
 * Keeps idle processors awake, as the profile `latency-performance` of tuned does. On a virtual machine a server spends several microseconds
 * to wake a load generator that sleeps. A slower server lets it sleep more often, so it would appear slower than it is.
 */
import { openSync, writeSync } from "node:fs";

/** Linux keeps idle processors awake while the file is open: here until the end of the run. */
const FILE = "/dev/cpu_dma_latency";

/** False where the system refuses, for example because this process is not root. */
export function keepAwake(): boolean {
  try {
    // The longest time that waking may take, in microseconds, as an integer of 32 bits.
    writeSync(openSync(FILE, "w"), Buffer.alloc(4));
    return true;
  } catch {
    return false;
  }
}
