import { type Context, FrameworkError, middleware, type Next, redirect, ValidationError } from "@stagecraft/framework";
import { languages, say } from "./languages.js";

/** The messages for refusals of the flows. */
const MESSAGES: ReadonlyMap<string, string> = new Map([
  ["E_AUTH_ATTEMPTS", "flash-too-many-attempts"],
  ["E_AUTH_CHANGED", "flash-account-changed"],
  ["E_AUTH_TOKENS", "flash-too-many-tokens"],
]);

/**
 * Leads a refused form back to its page: with an error at each wrong field, and without scripts with the input, or with a message. It asks for
 * the language first, because a refusal does not wait for that of the session.
 *
 * @param page the path of the form itself unless set
 */
export const backTo = (page?: { readonly url: () => string }) =>
  middleware(async function leadBack(ctx: Context, next: Next) {
    await languages.of(ctx);
    try {
      return await next();
    } catch (error) {
      const form = redirect().to(page?.url() ?? ctx.url);
      if (error instanceof ValidationError) return form.withErrors(error);
      const message = error instanceof FrameworkError ? MESSAGES.get(error.code) : undefined;
      if (message === undefined) throw error;
      await say(ctx, "error", message);
      return form;
    }
  });
