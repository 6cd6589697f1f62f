/**
 * Tells errors with a status (`FrameworkError`, Koa's `HttpError`, the reasons of `ctx.signal`) from unhandled errors. The response to the
 * first kind has the status of the error, the response to the second is a 500. Not for start-up errors.
 */
import type Koa from "koa";
import { ClientGoneError, FrameworkError } from "../../errors/framework-error.js";
import type { Exchange } from "../request/exchange.js";
import packages from "../packages.cjs";

const { HttpError } = packages.Koa;

/**
 * Returns the error with a status; `undefined` for an unhandled error, and for a value whose members throw when they are read. @internal
 */
export function toFrameworkError(ctx: Exchange, thrown: unknown): FrameworkError | undefined {
  try {
    return (
      findErrorWithStatus(thrown) ??
      (isClientGoneFailure(ctx, thrown) ? new ClientGoneError({ cause: thrown }) : undefined)
    );
  } catch {
    return undefined;
  }
}

function findErrorWithStatus(thrown: unknown): FrameworkError | undefined {
  if (thrown instanceof FrameworkError) return thrown;
  // The functions of Node throw this when `ctx.signal` aborts.
  if (thrown instanceof Error && thrown.name === "AbortError" && thrown.cause instanceof FrameworkError)
    return thrown.cause;
  if (!isKoaHttpError(thrown)) return undefined;
  const { status, expose, message, headers } = thrown;
  return new FrameworkError(expose ? message : undefined, {
    code: "E_HTTP",
    status,
    cause: thrown,
    ...(headers !== undefined && { headers }),
  });
}

/**
 * Whether a failure follows from a client that left while its body was read, or while the application wrote the response. A malformed body
 * counts too, since Node then ends the connection. Each way of reading reports this with a different error. Errors of the language stay
 * faults of the program. The exception is the `TypeError` of a `fetch` that sends the body on: its cause is the error of the request.
 */
function isClientGoneFailure({ isClientGone, headIsSent, connection, incoming }: Exchange, thrown: unknown): boolean {
  if (!isClientGone && !connection.socket.destroyed) return false;
  const isReading = incoming.readableFlowing !== null && !incoming.readableEnded;
  if (isReading) return !LANGUAGE_ERRORS.some((each) => thrown instanceof each) || isCausedBy(incoming.errored, thrown);
  return headIsSent && (thrown as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
}

function isCausedBy(error: Error | null, thrown: unknown): boolean {
  return error !== null && thrown instanceof Error && thrown.cause === error;
}

const LANGUAGE_ERRORS = [TypeError, ReferenceError, RangeError, SyntaxError];

interface KoaHttpError {
  readonly status: number;
  readonly expose: boolean;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Koa's `instanceof HttpError` is true for similar errors too, but the error of an HTTP client must stay an unhandled error. The errors of
 * Koa have `expose` on the prototype; an error of another class that went through `ctx.throw` has a member `expose`.
 */
function isKoaHttpError(thrown: unknown): thrown is KoaHttpError {
  if (Function.prototype[Symbol.hasInstance].call(HttpError, thrown)) return true;
  if (thrown instanceof HttpError && Object.hasOwn(thrown, "expose")) return true;
  return thrown instanceof Error && getAssertPrototype().isPrototypeOf(thrown);
}

let assertPrototype: object | undefined;

/**
 * Returns the prototype of the errors of `ctx.assert`. They come from another copy of the package than those of `ctx.throw`; nothing
 * exports it.
 */
function getAssertPrototype(): object {
  if (assertPrototype !== undefined) return assertPrototype;
  try {
    const koa: Koa = new packages.Koa();
    koa.context.assert(false, 400);
  } catch (error) {
    assertPrototype = Object.getPrototypeOf(Object.getPrototypeOf(error)) as object;
  }
  return assertPrototype ?? HttpError.prototype;
}

/**
 * Whether a failure only repeats the end of a request that the framework knows: it ended the request itself, or the client did. @internal
 */
export function isKnownFailure(ctx: Exchange, thrown: unknown): boolean {
  const error = toFrameworkError(ctx, thrown);
  if (error === undefined) return false;
  return error instanceof ClientGoneError || ctx.isAbortedWith(error) || error === ctx.incoming.errored;
}
