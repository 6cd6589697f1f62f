/**
 * The error of a refusal that no error caused, for example the 404 of the router: the error mapper of an application gets an error for
 * every error response. Not for code that refuses, which throws the class itself.
 */
import {
  BadRequestError,
  ConflictError,
  ForbiddenError,
  FrameworkError,
  MethodNotAllowedError,
  NotFoundError,
  PayloadTooLargeError,
  RequestTimeoutError,
  TooManyRequestsError,
  UnauthorizedError,
  UnavailableError,
  UnsupportedMediaTypeError,
} from "./framework-error.js";
import type { Problem } from "./problem.js";

type ErrorClass = new (detail: string) => FrameworkError;

const CLASS_OF_STATUS: ReadonlyMap<number, ErrorClass> = new Map<number, ErrorClass>([
  [400, BadRequestError],
  [401, UnauthorizedError],
  [403, ForbiddenError],
  [404, NotFoundError],
  [408, RequestTimeoutError],
  [409, ConflictError],
  [413, PayloadTooLargeError],
  [415, UnsupportedMediaTypeError],
  [429, TooManyRequestsError],
  [503, UnavailableError],
]);

/**
 * An error with the problem's status, of the class that an application would throw. Its message is the detail of the problem, else the
 * title, so that it is never empty. `allow` is the response header of that name.
 */
export function toFrameworkError({ status, title, detail = title }: Problem, allow: string): FrameworkError {
  if (status === 405) return new MethodNotAllowedError(allow === "" ? [] : allow.split(", "), detail);
  const Class = CLASS_OF_STATUS.get(status);
  return Class === undefined ? new FrameworkError(detail, { status }) : new Class(detail);
}
