/** The unhandled rejections during `work`. Each would end a process without a listener. */
export async function unhandledDuring(work: () => Promise<unknown>): Promise<readonly unknown[]> {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => rejections.push(reason);
  // Replaces mocha's listener, which would fail the test before its own assertion.
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
