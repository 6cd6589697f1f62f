/** The rejections that nothing had handled when `work` was over, each of which would end a process of its own. */
export async function unhandledDuring(work: () => Promise<unknown>): Promise<readonly unknown[]> {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => rejections.push(reason);
  // In place of mocha's own listener, which would fail the test before it could say what was seen.
  const others = process.rawListeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", note);
  try {
    await work();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("unhandledRejection", note);
    for (const other of others) process.on("unhandledRejection", other as (reason: unknown) => void);
  }
  return rejections;
}
