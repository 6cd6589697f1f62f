import { type Context, type Next, middleware } from "@stagecraft/framework";

/**
 * Stops caches from storing responses that change with every request. Not for errors: an error with a status drops caching headers, so
 * `errorPage` sets them on every error.
 */
async function noStore(ctx: Context, next: Next) {
  await next();
  ctx.set("Cache-Control", "no-store");
}

export const NoStore = middleware(noStore);
