import { type Context, middleware, type Next, redirect, ValidationError } from "@stagecraft/framework";

/** Leads a refused form back to its page, with an error at each wrong field, and without scripts with the input. */
export const backTo = (page: { readonly url: () => string }) =>
  middleware(async function leadBack(_ctx: Context, next: Next) {
    try {
      return await next();
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      return redirect().to(page.url()).withErrors(error);
    }
  });
