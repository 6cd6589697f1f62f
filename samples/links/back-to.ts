import {
  ConflictError,
  type Context,
  middleware,
  type Next,
  redirect,
  TooManyRequestsError,
  ValidationError,
} from "@stagecraft/framework";
import { Flash } from "@stagecraft/framework/session";

/**
 * Leads a refused form back to its page: with an error at each wrong field, and without scripts with the input, or with a message.
 *
 * @param page the path of the form itself unless set
 */
export const backTo = (page?: { readonly url: () => string }) =>
  middleware(async function leadBack(ctx: Context, next: Next) {
    try {
      return await next();
    } catch (error) {
      const form = redirect().to(page?.url() ?? ctx.url);
      if (error instanceof ValidationError) return form.withErrors(error);
      if (!(error instanceof TooManyRequestsError || error instanceof ConflictError)) throw error;
      Flash.of(ctx).error(error.message);
      return form;
    }
  });
