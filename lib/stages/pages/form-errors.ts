/**
 * The answer to a form of the Inertia client whose fields are not valid. The client shows the messages at the fields if they come as
 * `errors` with a page, so the answer leads back to the page of the form, and the messages wait in the session.
 */
import { ValidationError, type FieldError } from "../../errors/framework-error.js";
import type { Context } from "../../http/context.js";
import { refusalOf } from "../../http/refuse.js";
import { DEFAULT_BAG, FlashPort } from "../session/flash-port.js";
import { leadBack } from "./inertia-redirect.js";
import type { PageRequest } from "./page-request.js";

/** Leads back from a failed validation. Without a session nothing can wait for the page, and the problem stays the answer. */
export function leadBackWithErrors(ctx: Context, { errorBag }: PageRequest, origin: string): void {
  if (ctx.raw.statusCode !== 422 || ctx.method === "GET" || ctx.method === "HEAD") return;
  const error = refusalOf(ctx)?.error;
  const flash = FlashPort.find(ctx);
  if (!(error instanceof ValidationError) || flash === undefined) return;
  flash.addErrors(firstMessages(error.errors), errorBag ?? DEFAULT_BAG);
  leadBack(ctx, origin);
}

/** The client shows one text for each field. */
function firstMessages(errors: ValidationError["errors"]): Record<string, string> {
  // Names of fields come from the request.
  const messages = Object.create(null) as Record<string, string>;
  for (const [field, faults] of Object.entries(errors)) messages[field] = textOf(faults[0]);
  return messages;
}

function textOf(fault: FieldError | undefined): string {
  return fault?.message ?? fault?.code ?? "invalid";
}
