/** Asks again, a turn of the event loop later, until the answer is yes; the runner's own time limit ends it. For what happens outside. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}
