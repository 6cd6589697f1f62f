/**
 * Random ids for traces (16 bytes) and spans (8 bytes), in lower-case hexadecimal, never all zero (W3C Trace Context, sections
 * 3.2.2.3 and 3.2.2.4). Drawn from the system's generator in one piece for many ids: a draw is a system call, a slice is not.
 *
 * Not for secrets: they are unique, and an id tells where in the piece the next ones lie.
 */
import { randomBytes } from "node:crypto";

const POOL_BYTES = 3072;
const NO_SPAN = "0".repeat(16);
const NO_TRACE = "0".repeat(32);

// Like the generator behind it, the pool belongs to the process; it is filled by the first draw, not by the import.
let pool = "";
let used = 0;

/** 32 hexadecimal digits. */
export function newTraceId(): string {
  const id = draw(32);
  return id === NO_TRACE ? newTraceId() : id;
}

/** 16 hexadecimal digits. */
export function newSpanId(): string {
  const id = draw(16);
  return id === NO_SPAN ? newSpanId() : id;
}

function draw(digits: number): string {
  if (used + digits > pool.length) {
    pool = randomBytes(POOL_BYTES).toString("hex");
    used = 0;
  }
  const id = pool.slice(used, used + digits);
  used += digits;
  return id;
}
