/**
 * Converts a thrown error with a status into the response, and logs it. The error boundary does this for the application, and a stage does
 * it for code of the application that it calls itself. An unhandled error is thrown again, for the stage that catches all of them.
 */
import {
  ClientGoneError,
  ValidationError,
  type FieldError,
  type FrameworkError,
} from "../../errors/framework-error.js";
import { UNREADABLE_FIELD } from "../../errors/thrown-value.js";
import { InputValidationError } from "../body/validate.js";
import { profile } from "../../runtime/profile.js";
import { reportUnlogged, getRouteField } from "./failed-request.js";
import { tracing } from "../../tracing/tracing.js";
import type { Context } from "../request/context.js";
import { notifyErrorListeners } from "../koa/error-events.js";
import { refuseWithError } from "./refuse.js";
import { toFrameworkError } from "./thrown-error.js";

const errorLog = tracing.target("framework::http::error");

/**
 * Responds to an error with a status. Throws any other value again, and an error whose response can no longer be replaced.
 * @internal
 */
export function respondToThrown(ctx: Context, thrown: unknown): void {
  const error = toFrameworkError(ctx, thrown);
  const { headIsSent } = ctx;
  // A response that is decided or sent cannot be replaced. If the client has left, a response that was cut off is not a failure.
  if (error === undefined || !ctx.mayChange || (headIsSent && !(error instanceof ClientGoneError))) throw thrown;
  report(ctx, error);
  if (error.status >= 500) {
    reportUnlogged(ctx, "request failed", thrown);
    notifyErrorListeners(ctx, thrown);
  }
  if (!headIsSent) refuseWithError(ctx, error, profile === "debug" || error.status < 500, thrown);
}

function report(ctx: Context, error: FrameworkError): void {
  const { code, status } = error;
  const fields = { code, status, ...getRouteField(ctx) };
  if (status >= 500) errorLog.error(error.detail ?? "error", { ...fields, error, stack: error.stack });
  else if (error instanceof ClientGoneError && error.cause !== undefined)
    errorLog.debug("request refused", { ...fields, error: error.cause });
  // In a debug build the log names the fields that do not fit. In a release build it shows nothing of a request's body.
  else if (error instanceof ValidationError && profile === "debug")
    errorLog.info("request refused", { ...fields, reason: formatReason(error) });
  else errorLog.debug("request refused", fields);
}

/** Bounded, because the client chooses how many fields are wrong. In characters. */
const MAX_REASON_LENGTH = 500;
const MAX_REASON_FIELDS = 10;

/** `target: Invalid URL; slug: Too short`. */
function formatReason(error: ValidationError): string {
  try {
    const errors = error instanceof InputValidationError ? error.getLoggedErrors() : error.errors;
    const fields = Object.entries(errors).slice(0, MAX_REASON_FIELDS);
    const texts = fields.map(([path, faults]) => `${path || "body"}: ${faults.map(getMessage).join(", ")}`);
    return texts.join("; ").slice(0, MAX_REASON_LENGTH);
  } catch {
    // A caller without a compiler may pass any value. The response is still a 422.
    return UNREADABLE_FIELD;
  }
}

function getMessage({ code, message = code }: FieldError): string {
  return message;
}
