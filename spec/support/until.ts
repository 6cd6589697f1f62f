/** The turns of the event loop before the checks slow down. What this process itself does is over by then. */
const QUICK_TURNS = 50;

/**
 * Checks a condition until it holds, first at each turn of the event loop, then each millisecond, so that another process gets the
 * processor. The timeout of the test is the limit.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await condition()); turns++) {
    await new Promise((resolve) => (turns < QUICK_TURNS ? setImmediate(resolve) : setTimeout(resolve, 1)));
  }
}
