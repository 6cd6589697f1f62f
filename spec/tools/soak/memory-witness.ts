/**
 * Loaded into the sample first (`--expose-gc --import`): sends its memory to the parent on request. The heap is read after a full collection,
 * so that garbage does not count as growth; the resident set is read before it, as an operator sees it.
 */
export interface Memory {
  /** Bytes. */
  readonly resident: number;
  /** Bytes, with the external memory of the heap. */
  readonly heap: number;
}

process.on("message", () => {
  const resident = process.memoryUsage.rss();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const memory: Memory = { resident, heap: heapUsed + external };
  process.send?.(memory);
});
// Without its parent no other process would end this one.
process.on("disconnect", () => process.exit());
// The channel must not keep the process alive.
process.channel?.unref();
