/**
 * Loaded into the sample before anything else (`--expose-gc --import`): tells its memory when the parent asks. The heap is what is left after
 * a full collection, so that garbage is not taken for growth; the resident set is taken before it, as an operator would see it.
 */
export interface Memory {
  /** Bytes. */
  readonly resident: number;
  /** Bytes, with what is kept outside the heap for it. */
  readonly heap: number;
}

process.on("message", () => {
  const resident = process.memoryUsage.rss();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const memory: Memory = { resident, heap: heapUsed + external };
  process.send?.(memory);
});
// Whoever watched is gone: nobody would ever end it.
process.on("disconnect", () => process.exit());
// Asking is no reason to stay alive.
process.channel?.unref();
