/**
 * The response to a form of the Inertia client whose fields are not valid: a redirect to the page of the form. The client shows the
 * messages at the fields if they come as `errors` with a page, so the session stores them for that page.
 */
import { isGetOrHead } from "../../../endpoints/method.js";
import { ValidationError } from "../../../errors/framework-error.js";
import type { Context } from "../../../http/request/context.js";
import { toFormMessages } from "../../../http/body/validate.js";
import { findRefusal } from "../../../http/failures/refuse.js";
import { DEFAULT_BAG, FlashPort } from "../../session/flash-port.js";
import { redirectTo, findReferer, getShownUrl, type PagesSite } from "./inertia-redirect.js";
import type { PageRequest } from "./page-request.js";

/**
 * Redirects back after a failed validation. The problem stays the response without a session, which would store the messages, and without a
 * page: if the request has no `Referer`, the URL of the form may have no GET route.
 */
export function redirectBackWithErrors(ctx: Context, { errorBag }: PageRequest, site: PagesSite): void {
  if (ctx.raw.statusCode !== 422 || isGetOrHead(ctx.method)) return;
  const error = findRefusal(ctx)?.error;
  const flash = FlashPort.find(ctx);
  if (!(error instanceof ValidationError) || flash === undefined) return;
  const back = findReferer(ctx, site) ?? (site.routes.find("GET", ctx.path) && getShownUrl(ctx));
  if (back === undefined) return;
  flash.addErrors(toFormMessages(ctx, error), errorBag ?? DEFAULT_BAG);
  redirectTo(ctx, back);
}
