/** From a redirect to a status and a `Location`, given what is known of the request. Pure; the redirect mapper applies it. */
import { FrameworkError } from "../errors/framework-error.js";
import type { PathParameter } from "./path-types.js";
import type { Redirect } from "./redirect.js";
import { safeReferer } from "./safe-path.js";

export interface RedirectedRequest {
  readonly method: string;
  /** The header as it came; `""` for none. */
  readonly referer: string;
  /** The origins that are this site: the request's scheme and host, and that of the configured URL. */
  readonly origins: readonly string[];
}

/** The route table, as far as a redirect needs it. */
export interface UrlSource {
  urlFor(name: string, params: readonly PathParameter[]): string;
}

export function redirectStatus(method: string, isPermanent: boolean): 301 | 302 | 303 | 308 {
  if (method === "GET" || method === "HEAD") return isPermanent ? 301 : 302;
  return isPermanent ? 308 : 303;
}

/** Throws `E_ROUTE_NAME` or `E_ROUTE_PARAM`, both with status 500, for a route that cannot be resolved. */
export function redirectLocation({ target }: Redirect, request: RedirectedRequest, routes: UrlSource): string {
  if (target.kind === "path") return target.path;
  if (target.kind === "back") return safeReferer(request.referer, request.origins) ?? target.fallback;
  return target.kind === "endpoint" ? target.url() : urlOf(target.name, target.params, routes);
}

/** An undeclared name is the handler's mistake, not the client's: never a 404. */
function urlOf(name: string, params: readonly PathParameter[], routes: UrlSource): string {
  try {
    return routes.urlFor(name, params);
  } catch (error) {
    if (!(error instanceof FrameworkError) || error.code !== "E_ROUTE_NAME") throw error;
    throw new FrameworkError(error.detail, { code: error.code, status: 500, cause: error });
  }
}
