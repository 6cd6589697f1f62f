/**
 * The refusal of requests that a page of another site sends, for flows that run before there is a session: without it, such a page could sign
 * a visitor into the account of an attacker. Programs that are no browsers send neither header, and pass.
 *
 * Not instead of the CSRF stage, which protects what a session may do.
 */
import { ForbiddenError } from "../errors/framework-error.js";
import type { Context } from "../http/request/context.js";
import { isSiteUrl, listSiteOrigins } from "../http/request/origin.js";

const OWN_SITE: ReadonlySet<string> = new Set(["same-origin", "none"]);

/**
 * @param url the configured URL of the application
 * @throws ForbiddenError `E_AUTH_CROSS_SITE`
 */
export function refuseCrossSite(ctx: Context, url: string): void {
  const site = ctx.get("sec-fetch-site");
  const origin = ctx.get("origin");
  const isAllowed = site === "" ? origin === "" || isSiteUrl(origin, listSiteOrigins(ctx, url)) : OWN_SITE.has(site);
  if (isAllowed) return;
  const detail = "This request came from a page of another site.";
  throw new ForbiddenError(detail, { code: "E_AUTH_CROSS_SITE", slug: "cross-site" });
}
