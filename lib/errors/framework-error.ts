/**
 * The errors that become responses. A handler or middleware throws one, and the framework responds with its status and an RFC 9457 problem
 * document. Any other thrown value, except Koa's `HttpError`, is an unhandled error: the client gets a 500 without its message, and the log
 * has its stack.
 *
 * @example
 * throw new NotFoundError(`no link ${id}`);
 */

/** The properties of an error besides its detail. */
export interface FrameworkErrorOptions {
  /** Stable, unique, upper case: `E_…`. Never part of a response body. */
  readonly code?: string;
  /** 400 to 599; any other number becomes 500. */
  readonly status?: number;
  /** The error or value that caused this error. It is logged and never part of a response. */
  readonly cause?: unknown;
  /** Headers of the response. Their names may have any case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Extension members of the problem document (RFC 9457 section 3.2). */
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** The last part of the problem's type, by default derived from the status. */
  readonly slug?: string;
}

/** The base class of every error that the framework throws, and of the errors of an application with a status. */
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

/** The options of a subclass with a fixed status. */
export type HttpErrorOptions = Omit<FrameworkErrorOptions, "status" | "slug">;

/** 400: the request cannot be understood. */
export class BadRequestError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions & { readonly slug?: string } = {}) {
    super(detail, { code: "E_BAD_REQUEST", ...options, status: 400 });
  }
}

/** 400: the `Content-Type` says JSON, and the body is not valid JSON. */
export class MalformedJsonError extends BadRequestError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_MALFORMED_JSON", ...options, slug: "malformed-json" });
  }
}

/** 401: the client must authenticate. `challenge` becomes the `WWW-Authenticate` header (RFC 9110 section 11.6.1). */
export class UnauthorizedError extends FrameworkError {
  constructor(detail?: string, { challenge, ...options }: HttpErrorOptions & { readonly challenge?: string } = {}) {
    const headers = challenge === undefined ? options.headers : { ...options.headers, "WWW-Authenticate": challenge };
    super(detail, { code: "E_UNAUTHORIZED", ...options, ...(headers && { headers }), status: 401 });
  }
}

/** 403: the client may not do this. */
export class ForbiddenError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions & { readonly slug?: string } = {}) {
    super(detail, { code: "E_FORBIDDEN", ...options, status: 403 });
  }
}

/** 404: the resource does not exist. */
export class NotFoundError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_NOT_FOUND", ...options, status: 404 });
  }
}

/** 405: the resource does not support the method. `allow` lists the methods that it supports (RFC 9110 section 15.5.6). */
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

/** 408: the response took too long. */
export class RequestTimeoutError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_TIMEOUT", ...options, status: 408 });
  }
}

/** 409: the request conflicts with the state of the resource. */
export class ConflictError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_CONFLICT", ...options, status: 409 });
  }
}

/** 413: the body has more bytes, or more fields, than the limit. */
export class PayloadTooLargeError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_TOO_LARGE", ...options, status: 413 });
  }
}

/** 415: the media type, charset or content coding of the body is not supported. */
export class UnsupportedMediaTypeError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_MEDIA_TYPE", ...options, status: 415 });
  }
}

/** One fault of one field. It never has the value of the field. */
export interface FieldError {
  readonly code: string;
  readonly message?: string;
}

/** 422: the body is well-formed but not valid. `errors` maps the dotted path of a field (`""` for the whole body) to its faults. */
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

/** 503: the service is temporarily unavailable. */
export class UnavailableError extends FrameworkError {
  constructor(detail?: string, options: HttpErrorOptions = {}) {
    super(detail, { code: "E_UNAVAILABLE", ...options, status: 503 });
  }
}

/**
 * The reason of `ctx.signal` when the client has closed the connection. Its status, 499, is never sent; logs and metrics show it. Like
 * the reasons below it is a `FrameworkError`, so a handler may rethrow `ctx.signal.reason`.
 */
export class ClientGoneError extends FrameworkError {
  /** @param options the error of the body's stream, if there was one */
  constructor(options?: { readonly cause: unknown }) {
    super("The client closed the connection.", { code: "E_CLIENT_GONE", status: 499, ...options });
  }
}

/** The reason of `ctx.signal`, with status 503, when the process stops and the drain deadline has passed. */
export class DrainDeadlineError extends UnavailableError {
  constructor() {
    super("The server is shutting down.", { code: "E_DRAIN" });
  }
}

/** The reason of `ctx.signal`, with status 408, when the handler has exceeded the timeout. */
export class DeadlineError extends RequestTimeoutError {
  constructor() {
    super("The request took too long.");
  }
}

/** The reason of `ctx.signal`, with status 503, when the handler has exceeded a timeout with that status. */
export class SlowHandlerError extends UnavailableError {
  constructor() {
    super("The server took too long to respond.", { code: "E_TIMEOUT", headers: { "Retry-After": "1" } });
  }
}
