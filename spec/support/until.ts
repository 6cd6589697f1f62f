/** Checks a condition at each turn of the event loop until it holds. The timeout of the test is the limit. For events of another process. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}
