/**
 * A body stream that fails before its first byte can still become a proper 500, so the answer waits for the first chunk, the end or
 * an error, but not long. Event streams, whose first event may be a long time coming, are not waited for.
 */
import type { Readable } from "node:stream";
import type { Context } from "./context.js";

const PATIENCE_MS = 100;

export function firstChunk(ctx: Context, stream: Readable): void | Promise<void> {
  if (stream.readableLength > 0 || stream.readableEnded) return undefined;
  if (stream.errored !== null && stream.errored !== undefined) throw stream.errored;
  if (String(ctx.raw.getHeader("Content-Type") ?? "").startsWith("text/event-stream")) return undefined;
  if (ctx.incoming.method === "HEAD") return undefined;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      timer.cancel();
      stream.off("readable", arrived).off("end", arrived).off("close", arrived).off("error", failed);
    };
    const arrived = (): void => {
      stop();
      resolve();
    };
    const failed = (error: unknown): void => {
      stop();
      // The stream is given up: later errors of its have nobody to tell.
      stream.on("error", () => {});
      reject(error);
    };
    const timer = ctx.clock.setTimeout(arrived, PATIENCE_MS);
    stream.on("readable", arrived).on("end", arrived).on("close", arrived).on("error", failed);
  });
}
