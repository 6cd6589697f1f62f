/**
 * Why a request's signal was aborted. Each is a `FrameworkError`, so a handler may rethrow `ctx.signal.reason` and the answer fits.
 */
import { FrameworkError, RequestTimeoutError, UnavailableError } from "./errors.js";

/** 499: the client left before the answer was there. The status is never sent; it is what logs and metrics say. */
export class ClientGoneError extends FrameworkError {
  /** @param options the error that the reader of the body got, where there was one */
  constructor(options?: { readonly cause: unknown }) {
    super("The client closed the connection.", { code: "E_CLIENT_GONE", status: 499, ...options });
  }
}

/** 503: the process is stopping and its patience is over. */
export class DrainDeadlineError extends UnavailableError {
  constructor() {
    super("The server is shutting down.", { code: "E_DRAIN" });
  }
}

/** 408: the handler took longer than it may. */
export class DeadlineError extends RequestTimeoutError {
  constructor() {
    super("The request took too long.");
  }
}
