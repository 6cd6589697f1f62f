/**
 * Pages for visitors who have not signed in: a redirect to the page of the sign-in, and back to where they were. Only a request for a page and a
 * form of a page are redirected; programs get the 401 and the 403 of the guards.
 *
 * @example
 * builder.session(config).layer(redirectToSignIn(account.signInPage, { confirm: account.confirmPage }));
 * return redirect().to(await takeReturnPath(ctx, "/")); // after the sign-in
 */
import { FrameworkError } from "../errors/framework-error.js";
import type { Context } from "../http/request/context.js";
import type { KoaMiddleware, Next } from "../http/middleware.js";
import { listSiteOrigins } from "../http/request/origin.js";
import { findSafeReferer, isSafePath } from "../http/request/safe-path.js";
import { Session } from "../stages/session/session.js";
import { sessionKey } from "../stages/session/session-value.js";

/** An endpoint with a path without captures. */
export interface PageEndpoint {
  url(): string;
}

const RETURN_PATH = sessionKey<string>("auth-return");
const MAX_PATH_LENGTH = 2048;

/** @param pages `confirm` is the page on which a person gives the password again */
export function redirectToSignIn(signIn: PageEndpoint, pages: { readonly confirm?: PageEndpoint } = {}): KoaMiddleware {
  const targets: ReadonlyMap<string, PageEndpoint | undefined> = new Map([
    ["E_AUTH_SIGNED_OUT", signIn],
    ["E_AUTH_UNCONFIRMED", pages.confirm],
  ]);
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      const target = error instanceof FrameworkError && isForPage(ctx) ? targets.get(error.code) : undefined;
      if (target === undefined) throw error;
      const path = findPagePath(ctx);
      if (path !== undefined && path.length <= MAX_PATH_LENGTH) Session.of(ctx).put(RETURN_PATH, path);
      ctx.status = 303;
      ctx.set({ Location: target.url(), "Cache-Control": "no-store" });
    }
  };
}

/** The path at which `redirectToSignIn` has stopped the visitor, once; then the fallback. It always leads to this site. */
export async function takeReturnPath(ctx: Context, fallback: string): Promise<string> {
  const session = Session.of(ctx);
  const path = await session.get(RETURN_PATH);
  if (path === undefined) return fallback;
  session.forget(RETURN_PATH);
  return typeof path === "string" && isSafePath(path) ? path : fallback;
}

/** Keeps a path for `takeReturnPath`. A path that is too long or leads to another site is left out. @internal */
export function putReturnPath(ctx: Context, path: string): void {
  if (path.length <= MAX_PATH_LENGTH && isSafePath(path)) Session.of(ctx).put(RETURN_PATH, path);
}

/** A browser that navigates, also with a form, and a visit of the page protocol. */
function isForPage(ctx: Context): boolean {
  return ctx.get("x-inertia") !== "" || ctx.get("accept").includes("text/html");
}

/** A visit that is no GET returns to the page that has sent it. */
function findPagePath(ctx: Context): string | undefined {
  if (ctx.method !== "GET") return findSafeReferer(ctx.get("referer"), listSiteOrigins(ctx));
  const { originalUrl = "" } = ctx;
  return isSafePath(originalUrl) ? originalUrl : undefined;
}
