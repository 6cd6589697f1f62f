/**
 * A body stream that fails before its first byte can still become a proper 500, so the answer waits for the first chunk, the end or
 * an error, but not long. Event streams, whose first event may be a long time coming, are not waited for.
 */
import type { Readable } from "node:stream";
import type { Context } from "./context.js";
import { answerWith, settleBody } from "./answer.js";
import { isSendable, isStream, unsendable } from "./stream.js";

const PATIENCE_MS = 100;

/** The answer of a handler: what it returned, and of a stream the certainty that it begins. */
export function answerReturned(ctx: Context, value: unknown): void | Promise<void> {
  answerWith(ctx, value);
  if (ctx.payload instanceof ReadableStream) settleBody(ctx);
  return isStream(ctx.payload) ? firstChunk(ctx, ctx.payload) : undefined;
}

function firstChunk(ctx: Context, stream: Readable): void | Promise<void> {
  if (stream.readableEnded || ctx.incoming.method === "HEAD") return undefined;
  if (hasFailed(stream)) throw failureOf(stream);
  if (stream.readableLength > 0) return checkFirst(stream);
  if (ctx.raw.headersSent) return undefined;
  if (String(ctx.raw.getHeader("Content-Type") ?? "").startsWith("text/event-stream")) return undefined;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      timer.cancel();
      stream.off("readable", arrived).off("end", arrived).off("close", arrived).off("error", failed);
    };
    const arrived = (): void => {
      if (hasFailed(stream)) return failed(failureOf(stream));
      // Node says "readable" also to tell of an end or an error that is still on its way.
      if (stream.readableLength === 0 && !stream.readableEnded && !stream.destroyed) return undefined;
      stop();
      try {
        resolve(stream.readableLength > 0 ? checkFirst(stream) : undefined);
      } catch (error) {
        reject(error);
      }
    };
    const failed = (error: unknown): void => {
      stop();
      // The stream is given up: later errors of its have nobody to tell.
      stream.on("error", () => {});
      reject(error);
    };
    const late = (): void => {
      stop();
      resolve();
    };
    const timer = ctx.clock.setTimeout(late, PATIENCE_MS);
    stream.on("readable", arrived).on("end", arrived).on("close", arrived).on("error", failed);
  });
}

/** A stream of objects may hold anything; what is no text and no bytes cannot be sent. */
function checkFirst(stream: Readable): void {
  if (!stream.readableObjectMode) return;
  const chunk: unknown = stream.read();
  if (chunk === null) return;
  if (!isSendable(chunk)) {
    stream.destroy();
    throw unsendable(chunk);
  }
  stream.unshift(chunk);
}

function hasFailed(stream: Readable): boolean {
  return stream.errored !== null || (stream.destroyed && !stream.readableEnded);
}

function failureOf(stream: Readable): Error {
  return stream.errored ?? new Error("a handler returned a stream that was destroyed before it was read");
}
