import type { Context } from "@stagecraft/framework";

/** Errors are never cached. Browsers get a page, which `pages.ts` names; programs get the problem document. */
export function errorHeaders(_error: unknown, ctx: Context): undefined {
  ctx.set("Cache-Control", "no-store");
  ctx.vary("Accept");
}
