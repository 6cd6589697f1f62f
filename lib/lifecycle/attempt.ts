/** Calls foreign code that may or may not be async: what it throws at once becomes a rejection too. */
export async function attempt(work: () => unknown): Promise<unknown> {
  return work();
}
