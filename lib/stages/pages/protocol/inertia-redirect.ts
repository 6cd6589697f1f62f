/**
 * The responses to an Inertia request that are not pages: redirects, and responses without a body. The client follows a redirect by itself,
 * but it cannot follow one to another origin, and it loses the fragment. In these cases a 409 names the target. The client would show a
 * response without a body as an empty dialog, so that response becomes a redirect back.
 *
 * A 409 never has `X-Inertia`: the client would treat it as a page.
 */
import { isGetOrHead } from "../../../endpoints/method.js";
import { FrameworkError } from "../../../errors/framework-error.js";
import type { Context } from "../../../http/request/context.js";
import type { Routes } from "../../../routing/routes.js";
import { getPath, getQuery } from "../../../http/request/request-target.js";
import { isSiteUrl, listSiteOrigins } from "../../../http/request/origin.js";
import { findSafeReferer } from "../../../http/request/safe-path.js";
import { tracing } from "../../../tracing/tracing.js";
import type { PageRequest } from "./page-request.js";

const log = tracing.target("framework::pages");

/** The statuses whose `Location` the client would follow, or reads. */
const WITH_LOCATION: ReadonlySet<number> = new Set([201, 301, 302, 303, 307, 308]);
/** The redirects after which the client sends a GET. The others repeat the request, which a 409 cannot express. */
const TO_GET: ReadonlySet<number> = new Set([301, 302, 303]);
/** After a 302 a browser repeats these methods (Fetch standard, HTTP-redirect fetch). */
const REPEATED: ReadonlySet<string> = new Set(["PUT", "PATCH", "DELETE"]);

/** The parts of the application that the stage needs. */
export interface PagesSite {
  /** The origin of the configured URL. */
  readonly origin: string;
  readonly routes: Pick<Routes, "find">;
}

/**
 * Completes the response to an Inertia request that is not a page. @throws FrameworkError `E_PAGE_EMPTY` for a GET whose empty response
 * would become a redirect to itself
 */
export function completeRedirect(ctx: Context, visit: PageRequest, site: PagesSite): void {
  if (isEmpty(ctx)) redirectBack(ctx, site);
  const { raw, method } = ctx;
  if (raw.statusCode === 302 && REPEATED.has(method)) ctx.setStatus(303);
  const location = raw.getHeader("Location");
  if (typeof location !== "string" || !WITH_LOCATION.has(raw.statusCode)) return;
  if (isForeign(ctx, location, site.origin)) {
    if (TO_GET.has(raw.statusCode)) respondWithConflict(ctx, { "X-Inertia-Location": location });
  } else if (location.includes("#") && !visit.isPrefetch) {
    // Clients of version 2 know the second header only; later ones prefer the first one.
    respondWithConflict(ctx, { "X-Inertia-Redirect": location, "X-Inertia-Location": location });
  } else if (raw.statusCode === 308 && method === "POST") {
    log.warn("a permanent redirect repeats the POST of a form", { path: ctx.path });
  }
}

/** Sends a 409 without a body. The headers that are set stay, cookies included. */
export function respondWithConflict(ctx: Context, headers: Readonly<Record<string, string>>): void {
  ctx.clearBody();
  ctx.raw.removeHeader("Location");
  ctx.setStatus(409);
  for (const name in headers) ctx.raw.setHeader(name, headers[name] ?? "");
  // An empty body: a response without any body would get a problem document.
  ctx.setBody("");
  ctx.inferredType = undefined;
}

/**
 * Path and query of the request as the browser shows them, before any stage rewrote the target. A browser resolves the text: two slashes at
 * its start would name another host, so a dot segment is put before them (RFC 3986 section 4.2).
 */
export function getShownUrl({ originalUrl = "/" }: Context): string {
  const target = getPath(originalUrl) + getQuery(originalUrl);
  if (/^\/[/\\]/.test(target)) return `/.${target}`;
  return target.startsWith("/") ? target : `/${target}`;
}

/** A response that the client cannot show: it has no body, and its status says only that the request succeeded. */
function isEmpty({ raw: { statusCode }, payload }: Context): boolean {
  if (statusCode !== 200 && statusCode !== 204) return false;
  return payload === undefined || payload === "" || (payload instanceof Uint8Array && payload.length === 0);
}

/** Redirects to the page of the `Referer` if it is of this site, else to the target of the request itself. */
function redirectBack(ctx: Context, site: PagesSite): void {
  const back = findReferer(ctx, site) ?? getShownUrl(ctx);
  // The client would follow the redirect to the same handler without end.
  if (isGetOrHead(ctx.method) && isSamePath(back, getShownUrl(ctx))) throw emptyPage(ctx, site);
  redirectTo(ctx, back);
}

/** The page of the `Referer` if it is of this site. */
export function findReferer(ctx: Context, { origin }: PagesSite): string | undefined {
  return findSafeReferer(ctx.get("referer"), listSiteOrigins(ctx, origin));
}

export function redirectTo(ctx: Context, location: string): void {
  ctx.clearBody();
  ctx.setStatus(isGetOrHead(ctx.method) ? 302 : 303);
  ctx.raw.setHeader("Location", location);
}

/** Whether two targets are one URL to a browser, which writes some characters in another way. */
function isSamePath(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => new URL(path, "http://localhost").href);
  return first === second;
}

function emptyPage({ method, path }: Context, { routes }: PagesSite): FrameworkError {
  const who = routes.find(method, path)?.handler ?? "the application";
  const what = `${who} returned nothing for ${method} ${path}, and the Inertia client would send it again without an end`;
  return new FrameworkError(`${what}; return a page or a redirect`, { code: "E_PAGE_EMPTY" });
}

/** Whether the location is of another site. A location with two slashes at its start has the scheme of the page, which may be either. */
function isForeign(ctx: Context, location: string, origin: string): boolean {
  if (!/^(?:[a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(location) || !URL.canParse(location, origin)) return false;
  const origins = listSiteOrigins(ctx, origin);
  return !origins.some((base) => isSiteUrl(new URL(location, base).href, origins));
}
