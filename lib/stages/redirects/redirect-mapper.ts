/**
 * Stage layer: converts a returned redirect to a response, with the help of the route table. It is on by default. Without it, redirects to
 * a path and back still work; redirects to a route by its name do not.
 */
import { FrameworkError, ValidationError } from "../../errors/framework-error.js";
import { formatRoute, type AnyEndpoint } from "../../endpoints/endpoint.js";
import type { PathParameter } from "../../endpoints/path.js";
import { Redirect, getRedirectStatus } from "./redirect.js";
import { listSiteOrigins } from "../../http/request/origin.js";
import { findSafeReferer } from "../../http/request/safe-path.js";
import { notifyErrorListeners } from "../../http/koa/error-events.js";
import { refuseWithError } from "../../http/failures/refuse.js";
import { toFormMessages } from "../../http/body/validate.js";
import { isFormRead, readForm } from "../../http/body/body-reader.js";
import type { Context } from "../../http/request/context.js";
import type { FormFields } from "../../http/body/form-fields.js";
import { StageLayer, type Run } from "../../http/middleware.js";
import { profile } from "../../runtime/profile.js";
import { FlashPort } from "../session/flash-port.js";
import { tracing } from "../../tracing/tracing.js";

/** The parts of a request that decide where a redirect leads. */
export interface RedirectedRequest {
  readonly method: string;
  /** The value of `Referer`; `""` if it is missing. */
  readonly referer: string;
  /** The origins of this site, as URLs spell them. */
  readonly origins: readonly string[];
}

/** The part of the route table that a redirect needs. */
interface UrlSource {
  urlFor(name: string, params: readonly PathParameter[]): string;
  /** Throws `E_ROUTE_NAME` for an endpoint without a route. */
  requireRoute(endpoint: AnyEndpoint): void;
}

/** @throws FrameworkError `E_ROUTE_NAME` or `E_ROUTE_PARAM`, both with status 500, for a route that cannot be resolved */
export function resolveLocation({ target }: Redirect, request: RedirectedRequest, routes: UrlSource): string {
  if (target.kind === "path") return target.path;
  if (target.kind === "back") return findSafeReferer(request.referer, request.origins) ?? target.fallback;
  try {
    if (target.kind === "name") return routes.urlFor(target.name, target.params);
    routes.requireRoute(target.endpoint);
    return target.url();
  } catch (error) {
    // An unknown route is a fault of the handler, not of the client, so it is a 500 and not a 404.
    if (!(error instanceof FrameworkError) || error.code !== "E_ROUTE_NAME") throw error;
    throw new FrameworkError(error.detail, { code: error.code, status: 500, cause: error });
  }
}

const log = tracing.target("framework::http::redirect");

export interface RedirectSite {
  readonly routes: UrlSource;
  /** The origin of the configured URL. It belongs to this site, like the origin of the request. */
  readonly origin: string;
}

export class RedirectMapperLayer extends StageLayer {
  constructor(private readonly site: RedirectSite) {
    super();
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      const result = inner(ctx);
      return result === undefined ? this.map(ctx) : result.then(() => this.map(ctx));
    };
  }

  private map(ctx: Context): void | Promise<void> {
    const { deferred } = ctx;
    if (!(deferred instanceof Redirect)) return undefined;
    respondWithRedirect(ctx, deferred, this.site);
    if (!hasFlashData(deferred) || !isRedirection(ctx.status)) return undefined;
    const flash = FlashPort.find(ctx);
    if (flash !== undefined) return addToFlash(ctx, flash, deferred);
    warnOfDropped(deferred, "there is no session stage");
    return undefined;
  }
}

/** Responds with a redirect without the mapper. Its data for the session is dropped with a warning. @internal */
export function respondWithoutMapper(ctx: Context, redirect: Redirect, origin: string): void {
  respondWithRedirect(ctx, redirect, { routes: NO_ROUTES, origin });
  if (hasFlashData(redirect)) warnOfDropped(redirect, "the redirect mapper is off");
}

function hasFlashData({ left: { data, errors, input } }: Redirect): boolean {
  return data.size > 0 || errors.size > 0 || input !== undefined;
}

function warnOfDropped({ left: { data, errors } }: Redirect, reason: string): void {
  log.warn(`redirect data dropped: ${reason}`, { keys: [...data.keys()], bags: [...errors.keys()] });
}

function addToFlash(ctx: Context, flash: FlashPort, { left: { data, errors, input } }: Redirect): void | Promise<void> {
  for (const [key, value] of data) flash.addData(key, value);
  for (const [bag, each] of errors)
    flash.addErrors(each instanceof ValidationError ? toFormMessages(ctx, each) : each, bag);
  if (input !== undefined) flash.addInput(input);
  else if (errors.size > 0) return addFormToFlash(ctx, flash);
}

/** Adds the form of the request, if the handler has read it. */
async function addFormToFlash(ctx: Context, flash: FlashPort): Promise<void> {
  if (ctx.get("x-inertia") === "true" || !isFormRead(ctx)) return;
  // Without a schema the reader returns the fields; the bytes are already read.
  flash.addInput((await readForm(ctx)) as FormFields);
}

function isRedirection(status: number): boolean {
  return status >= 300 && status < 400;
}

function respondWithRedirect(ctx: Context, redirect: Redirect, { routes, origin }: RedirectSite): void {
  ctx.deferred = undefined;
  try {
    const origins = listSiteOrigins(ctx, origin);
    const location = resolveLocation(redirect, { method: ctx.method, referer: ctx.get("referer"), origins }, routes);
    ctx.clearBody();
    // Layers of the application have seen the status, and one of them may have chosen another redirect, such as 307.
    if (!isRedirection(ctx.status)) ctx.setStatus(getRedirectStatus(ctx.method, redirect.isPermanent));
    ctx.raw.setHeader("Location", location);
  } catch (error) {
    if (!(error instanceof FrameworkError)) throw error;
    log.error("redirect failed", { code: error.code, status: error.status, error, stack: error.stack });
    notifyErrorListeners(ctx, error);
    refuseWithError(ctx, error, profile === "debug");
  }
}

/** The route table of an application without the mapper. It knows no names. @internal */
export const NO_ROUTES: UrlSource = {
  urlFor(name) {
    throw createMapperOffError(`"${name}"`);
  },
  requireRoute(endpoint) {
    throw createMapperOffError(formatRoute(endpoint));
  },
};

function createMapperOffError(route: string): FrameworkError {
  return new FrameworkError(
    `redirect().route(${route}) needs the redirect mapper, which is off: enable it with .redirectMapper(true)`,
    {
      code: "E_ROUTE_NAME",
    },
  );
}
