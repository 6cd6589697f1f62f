/** How long a piece of work keeps everything else waiting, which processor time does not say of work that comes in slices. */

import type { MicroContender } from "./comparison.js";

/** The longest that the event loop did not come round while `run` was under way, in nanoseconds. */
export async function longestPause({ run }: MicroContender): Promise<number> {
  let [longest, last, isOver] = [0, performance.now(), false];
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await run(1);
  isOver = true;
  // Work that never let go has not been looked at yet.
  look();
  return longest * 1e6;
}
