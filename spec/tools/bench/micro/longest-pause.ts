/** How long a piece of work keeps everything else waiting, which processor time does not say of work that comes in slices. */

import type { MicroContender } from "./comparison.js";

/** The longest that the event loop did not come round while `run` was under way, in nanoseconds. */
export async function longestPause({ run }: MicroContender): Promise<number> {
  let [longest, last, hasEnded] = [0, performance.now(), false];
  const measure = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!hasEnded) setImmediate(measure);
  };
  setImmediate(measure);
  await run(1);
  hasEnded = true;
  // Work without a pause has not been measured yet.
  measure();
  return longest * 1e6;
}
