import { type Context, type Next, middleware } from "@stagecraft/framework";

/**
 * Keeps caches from holding what changes with every request. Not for what is thrown below: an error with a status drops what was said
 * of caching, so `errorPage` says it of every error.
 */
async function noStore(ctx: Context, next: Next) {
  await next();
  ctx.set("Cache-Control", "no-store");
}

export const NoStore = middleware(noStore);
