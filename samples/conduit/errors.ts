/** The errors of RealWorld: `{ "errors": { "<subject>": ["<message>"] } }`. */
import {
  ConflictError,
  ErrorMapping,
  ForbiddenError,
  FrameworkError,
  NotFoundError,
  Reply,
  UnauthorizedError,
  ValidationError,
} from "@stagecraft/framework";
import { UniqueViolationError } from "@stagecraft/framework/db";
import { z } from "zod";

type Messages = Readonly<Record<string, readonly string[]>>;

/** The body of every refusal. */
export const Errors = z.object({ errors: z.record(z.string(), z.array(z.string())) }).meta({ id: "Errors" });

export const errorFormat = new ErrorMapping().using((error) => Reply.json({ errors: toMessages(error) }));

export function notFound(subject: string): NotFoundError {
  return new NotFoundError(`${subject} not found`, { extensions: { [subject]: ["not found"] } });
}

export function forbidden(subject: string): ForbiddenError {
  return new ForbiddenError(`${subject} forbidden`, { extensions: { [subject]: ["forbidden"] } });
}

export function unauthorized(subject: string, message: string): UnauthorizedError {
  const options = { challenge: 'Token realm="conduit"', extensions: { [subject]: [message] } };
  return new UnauthorizedError(`${subject} ${message}`, options);
}

/** The error for a value that another user has already. The unique columns of the database report it. */
export function asTaken(error: unknown): unknown {
  if (!(error instanceof UniqueViolationError)) return error;
  const columns = (error.columns ?? []).map((column) => [column, ["has already been taken"]]);
  return new ConflictError("has already been taken", { extensions: Object.fromEntries(columns) });
}

function toMessages(error: unknown): Messages {
  if (error instanceof ValidationError) return fieldMessages(error);
  // Only the functions above set extensions.
  if (error instanceof FrameworkError && error.status < 500)
    return (error.extensions as Messages | undefined) ?? { body: [error.detail ?? "cannot be processed"] };
  return { body: ["something went wrong"] };
}

/** A field is inside the part that has it, in a body also inside the object that names the kind: `query.limit`, `body.article.title`. */
function fieldMessages({ errors }: ValidationError): Messages {
  const entries = Object.entries(errors).map(([path, faults]) => [
    path
      .replace(/^body\./, "")
      .split(".")
      .at(1) ?? path,
    faults.map(({ code, message }) => message ?? code),
  ]);
  return Object.fromEntries(entries) as Messages;
}
