/** The iterations of the event loop before the checks slow down. By then the work of this process has ended. */
const QUICK_TURNS = 50;
/** The loop of a test that has failed would take a processor from all tests after it in the same process. */
const LIMIT_MS = 60_000;

/**
 * Checks a condition until it holds, first at each iteration of the event loop, then each millisecond, so that another process gets the
 * processor. The timeout of the test is the limit; the loop ends a minute after its start.
 *
 * @param state the values that the condition reads, for the error
 */
export async function until(condition: () => boolean | Promise<boolean>, state?: () => string): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  for (let turns = 0; !(await condition()); turns++) {
    if (performance.now() > deadline) throw new Error(failure(state?.()));
    await new Promise((resolve) => (turns < QUICK_TURNS ? setImmediate(resolve) : setTimeout(resolve, 1)));
  }
}

function failure(state: string | undefined): string {
  const message = "the condition does not hold after a minute";
  return state === undefined ? message : `${message}: ${state}`;
}
