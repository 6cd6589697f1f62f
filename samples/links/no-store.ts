import type { Context, Next } from "@stagecraft/framework";
import { middleware } from "@stagecraft/framework";

/** Keeps caches from holding what changes with every request. */
async function noStore(ctx: Context, next: Next) {
  await next();
  ctx.set("Cache-Control", "no-store");
}

export const NoStore = middleware(noStore);
