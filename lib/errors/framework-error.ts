/**
 * The errors that become responses: thrown in a handler or a middleware, each is answered as an RFC 9457 problem with its status.
 * Anything else that is thrown (but Koa's own `HttpError`) is a panic: 500, logged with its stack, nothing of it in the body.
 *
 * @example
 * throw new NotFoundError(`no link ${id}`);
 */

/** What an error may carry besides its detail. */
export interface FrameworkErrorOptions {
  /** Stable, unique, upper case: `E_…`. Never part of a response body. */
  readonly code?: string;
  /** 400 to 599; anything else is taken as 500. */
  readonly status?: number;
  /** What made it fail; logged, never answered. */
  readonly cause?: unknown;
  /** Headers of the answer, names in any case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Extension members of the problem document (RFC 9457 section 3.2). */
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** Last part of the problem's type; without one it follows from the status. */
  readonly slug?: string;
}

/** Base of every error the framework throws, and of those an application wants answered with a status. */
export class FrameworkError extends Error {
  readonly code: string;
  readonly status: number;
  readonly detail: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly extensions: Readonly<Record<string, unknown>> | undefined;
  readonly slug: string | undefined;

  constructor(detail?: string, options: FrameworkErrorOptions = {}) {
    super(detail ?? "", "cause" in options ? { cause: options.cause } : undefined);
    const { status = 500 } = options;
    this.name = new.target.name;
    this.detail = detail;
    this.code = options.code ?? "E_INTERNAL";
    this.status = Number.isInteger(status) && status >= 400 && status <= 599 ? status : 500;
    this.headers = options.headers;
    this.extensions = options.extensions;
    this.slug = options.slug;
  }
}

/** What the subclasses with a fixed status still leave open. */
export type HttpErrorOptions = Omit<FrameworkErrorOptions, "status" | "slug">;

/** 400: the request cannot be understood. */
export class BadRequestError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions & { readonly slug?: string } = {}) {
    super(detail, { code: "E_BAD_REQUEST", ...options, status: 400 });
  }
}

/** 400: a body that is announced as JSON and is not. */
export class MalformedJsonError extends BadRequestError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_MALFORMED_JSON", ...options, slug: "malformed-json" });
  }
}

/** 401; with a `challenge` the answer carries `WWW-Authenticate` (RFC 9110 section 11.6.1). */
export class UnauthorizedError extends FrameworkError {
  constructor(detail?: string, { challenge, ...options }: HttpErrorOptions & { readonly challenge?: string } = {}) {
    const headers = challenge === undefined ? options.headers : { ...options.headers, "WWW-Authenticate": challenge };
    super(detail, { code: "E_UNAUTHORIZED", ...options, ...(headers && { headers }), status: 401 });
  }
}

/** 403: known, and not allowed. */
export class ForbiddenError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions & { readonly slug?: string } = {}) {
    super(detail, { code: "E_FORBIDDEN", ...options, status: 403 });
  }
}

/** 404: there is no such thing. */
export class NotFoundError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_NOT_FOUND", ...options, status: 404 });
  }
}

/** 405: the resource exists and does not do that; `allow` names what it does (RFC 9110 section 15.5.6). */
export class MethodNotAllowedError extends FrameworkError {
  constructor(allow: readonly string[], detail?: string, options: HttpErrorOptions = {}) {
    super(detail, {
      code: "E_METHOD",
      ...options,
      headers: { ...options.headers, Allow: allow.join(", ") },
      status: 405,
    });
  }
}

/** 408: the answer was not there in time. */
export class RequestTimeoutError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_TIMEOUT", ...options, status: 408 });
  }
}

/** 409: the request does not fit the present state. */
export class ConflictError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_CONFLICT", ...options, status: 409 });
  }
}

/** 413: more bytes, or more fields, than are read. */
export class PayloadTooLargeError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_TOO_LARGE", ...options, status: 413 });
  }
}

/** 415: a media type, charset or content coding that is not read. */
export class UnsupportedMediaTypeError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_MEDIA_TYPE", ...options, status: 415 });
  }
}

/** One thing wrong with one field. Never carries the value. */
export interface FieldError {
  readonly code: string;
  readonly message?: string;
}

/** 422: well-formed and not acceptable; `errors` maps a dotted path (`""` for the whole) to what is wrong there. */
export class ValidationError extends FrameworkError {
  readonly errors: Readonly<Record<string, readonly FieldError[]>>;

  constructor(errors: Readonly<Record<string, readonly FieldError[]>>, options: HttpErrorOptions = {}) {
    super("Request validation failed", {
      code: "E_VALIDATION",
      ...options,
      extensions: { ...options.extensions, errors },
      status: 422,
    });
    this.errors = errors;
  }
}

/** 429: too many requests. */
export class TooManyRequestsError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_RATE_LIMIT", ...options, status: 429 });
  }
}

/** 503: not now. */
export class UnavailableError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_UNAVAILABLE", ...options, status: 503 });
  }
}

// Why a request's signal was aborted. Each is a `FrameworkError`, so a handler may rethrow `ctx.signal.reason` and the answer fits.

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
