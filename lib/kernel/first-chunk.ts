/**
 * A body stream that fails before its first byte can still become a proper 500, so the answer waits for the first chunk, the end or
 * an error, but not long. Event streams, whose first event may be a long time coming, are not waited for.
 */
import type { Readable } from "node:stream";
import type { Context } from "./context.js";
import { answerWith, settleBody } from "./answer.js";
import { failureOf, isStream } from "./stream.js";

const PATIENCE_MS = 100;

/** The answer of a handler: what it returned, and of a stream the certainty that it begins. */
export function answerReturned(ctx: Context, value: unknown): void | Promise<void> {
  answerWith(ctx, value);
  if (ctx.payload instanceof ReadableStream || isStream(ctx.payload)) settleBody(ctx);
  return isStream(ctx.payload) ? firstChunk(ctx, ctx.payload) : undefined;
}

function firstChunk(ctx: Context, stream: Readable): void | Promise<void> {
  if (stream.readableEnded || ctx.incoming.method === "HEAD") return undefined;
  const failure = failureOf(stream);
  if (failure !== undefined) throw failure;
  if (stream.readableLength > 0 || ctx.raw.headersSent || isEventStream(ctx)) return undefined;
  // The handler has answered in time: while its stream is given a moment, no deadline counts.
  const { timeKeeper } = ctx;
  ctx.timeKeeper = stream;
  return begin(ctx, stream).finally(() => (ctx.timeKeeper = timeKeeper));
}

function isEventStream({ raw, naturalType }: Context): boolean {
  return /^text\/event-stream(?:$|[ \t;])/i.test(String(raw.getHeader("Content-Type") ?? naturalType));
}

/** Resolves as soon as there is something to send, or nothing more to wait for. */
function begin(ctx: Context, stream: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      timer.cancel();
      stream.off("readable", arrived).off("end", arrived).off("close", arrived).off("error", failed);
    };
    const arrived = (): void => {
      const failure = failureOf(stream);
      if (failure !== undefined) return failed(failure);
      // Node says "readable" also to tell of an end or an error that is still on its way.
      if (stream.readableLength > 0 || stream.readableEnded) enough();
    };
    const failed = (error: unknown): void => {
      stop();
      reject(error);
    };
    const enough = (): void => {
      stop();
      resolve();
    };
    const timer = ctx.clock.setTimeout(enough, PATIENCE_MS);
    stream.on("readable", arrived).on("end", arrived).on("close", arrived).on("error", failed);
  });
}
