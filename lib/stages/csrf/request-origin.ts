/**
 * Where a request comes from, by the headers that browsers send and pages cannot set: `Sec-Fetch-Site` (Fetch Metadata section 2.1) and
 * `Origin` (RFC 6454 section 7). A browser sends `Sec-Fetch-Site` only over HTTPS and to localhost.
 */
import type { Context } from "../../http/context.js";

/**
 * - `"own"`: a page of this site;
 * - `"trusted"`: a page of a listed origin;
 * - `"foreign"`: another site, a sibling host included;
 * - `"unknown"`: the headers do not tell, for example in a request of a program.
 */
export type RequestSource = "own" | "trusted" | "foreign" | "unknown";

export function sourceOf(ctx: Context, siteOrigin: string, trusted: ReadonlySet<string>): RequestSource {
  const { headers } = ctx.incoming;
  const origin = headers.origin?.toLowerCase();
  if (origin !== undefined && trusted.has(origin)) return "trusted";
  const site = ctx.get("sec-fetch-site").toLowerCase();
  // The browser itself compared the origins, also where `Origin` is `null` under the policy no-referrer.
  if (site === "same-origin") return "own";
  if (site === "same-site" || site === "cross-site") return "foreign";
  if (origin === undefined || origin === "null") return "unknown";
  return origin === siteOrigin || isOfHost(origin, ctx) ? "own" : "foreign";
}

/**
 * A proxy that ends TLS may not be listed as trusted. So a request over HTTP may come from a page of the same host over HTTPS, but never
 * the reverse.
 */
function isOfHost(origin: string, { host, protocol }: Context): boolean {
  const name = host.toLowerCase();
  return origin === `https://${name}` || (protocol === "http" && origin === `http://${name}`);
}
