/**
 * Stage layer: refuses an unsafe request that a page of another site may have caused (double submit). The request needs the token of its
 * cookie in a header or in a form field, which another site cannot read. Browsers also send the site from which a request comes. A request
 * from another site is refused, also with a valid token.
 */
import { isSafeMethod } from "../../endpoints/method.js";
import { FrameworkError, UnauthorizedError } from "../../errors/framework-error.js";
import { readForm } from "../../http/body/body-reader.js";
import { formatAttributes, isForSharedCaches, type CookieAttributes } from "../../http/request/cookie.js";
import type { Context } from "../../http/request/context.js";
import { isSiteUrl, listSiteOrigins } from "../../http/request/origin.js";
import { NO_UPLOADS } from "../../http/body/uploads.js";
import { StageLayer, type Run } from "../../http/middleware.js";
import { Problem } from "../../errors/problem.js";
import { refuse, refuseWithError } from "../../http/failures/refuse.js";
import { findSafeReferer } from "../../http/request/safe-path.js";
import type { Routes } from "../../routing/routes.js";
import { tracing } from "../../tracing/tracing.js";
import { FlashPort } from "../session/flash-port.js";
import { SessionOfRequest } from "../session/session.js";
import { NOTHING_SAVED } from "../session/session-save.js";
import { CsrfToken, TOKEN_FIELD, TokenOfRequest, type CsrfCookie } from "./csrf-token.js";
import { NO_SESSION, readToken, TokenMaker } from "./token.js";

const log = tracing.target("framework::http::csrf");

/** The parts of the application that the stage needs. */
export interface CsrfSite {
  /** The origin of the configured URL. */
  readonly origin: string;
  /** @internal Names methods that the declarations leave out. */
  readonly routes: Pick<Routes, "find" | "findOptions">;
}

/** A text, or one for the request: in its language. */
export type ExpiredMessage = string | ((ctx: Context) => string | Promise<string>);

/** The settings, checked by `CsrfConfig`. */
export interface CsrfSettings extends CsrfSite {
  readonly cookie: CookieAttributes;
  /** Lower case. */
  readonly header: string;
  /** As URLs spell them. */
  readonly trusted: readonly string[];
  /** The message for the page to which a refused visit of the page protocol is redirected; `undefined`: the visit gets the problem. */
  readonly expired: ExpiredMessage | undefined;
}

const BEARER = /^bearer +\S/i;
const URLENCODED = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

const MULTIPART = /^multipart\/form-data\s*;/i;

const FOREIGN = "cross-site request";
const NO_COOKIE = "missing CSRF cookie";
const NO_TOKEN = "missing CSRF token";
const MISMATCH = "CSRF token mismatch";

/** The problem has a fixed detail, so the event names the headers and fields that a client has to send. */
const FIX =
  'a page sends the token of the cookie in the header or in the field _token; a program sends "Authorization: Bearer …"; ' +
  'the route of a webhook says { csrf: "exempt" } and checks a signature';

export class CsrfLayer extends StageLayer {
  private readonly cookie: CsrfCookie;
  /** Every request of an application has the same session keys, or none. */
  private maker: TokenMaker | undefined = undefined;

  constructor(private readonly settings: CsrfSettings) {
    super();
    this.cookie = { name: settings.cookie.name, suffix: formatAttributes(settings.cookie) };
  }

  /** The names of cookie and header. @internal */
  get names(): { readonly cookie: string; readonly header: string } {
    return { cookie: this.settings.cookie.name, header: this.settings.header };
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      const session = SessionOfRequest.find(ctx);
      const maker = (this.maker ??= new TokenMaker(session?.settings.keys));
      const token = new CsrfToken(ctx, this.cookie, maker);
      TokenOfRequest.set(ctx, token);
      if (hasBearer(ctx)) return inner(ctx);
      if (session !== undefined) session.saveListener = token;
      const result = this.admit(ctx, token, maker, inner);
      if (session !== undefined) return result;
      return result === undefined ? issueToken(ctx, token) : result.then(() => issueToken(ctx, token));
    };
  }

  private admit(ctx: Context, token: CsrfToken, maker: TokenMaker, inner: Run): void | Promise<void> {
    if (isSafeMethod(ctx.method)) {
      token.mayIssue = true;
      return inner(ctx);
    }
    const source = detectSource(ctx, this.settings.origin, this.settings.trusted);
    if (source === "trusted") return inner(ctx);
    const request: Admission = { ctx, token, inner };
    if (source === "foreign") return this.refuse(request, FOREIGN);
    const cookies = token.cookies();
    if (cookies.length === 0) return this.refuse(request, NO_COOKIE);
    const check = (given: string | undefined): void | Promise<void> => {
      if (given === undefined) return this.refuse(request, NO_TOKEN);
      // Two first visits at the same time both set the cookie, and the browser keeps one. A form of the other visit is valid too, because
      // the browser itself says that it comes from this site.
      const isMatch =
        isMatching(maker, token.requestId, cookies, given) ||
        (source === "this-site" && token.requestId === NO_SESSION && maker.isOfFirstVisit(given));
      return isMatch ? inner(ctx) : this.refuse(request, MISMATCH);
    };
    const header = readToken(ctx.get(this.settings.header));
    const form = header === undefined ? readRequestForm(ctx) : undefined;
    if (form === undefined) return check(header);
    return form.then(findToken).then((field) => (ctx.isAbandoned ? undefined : check(field)), refuseOnError(ctx));
  }

  /** The stage runs before the router. Only for a request that would be refused it finds the route of the request. */
  private refuse({ ctx, token, inner }: Admission, detail: string): void | Promise<void> {
    const { csrf, bearer } = this.settings.routes.findOptions(ctx.method, ctx.path) ?? {};
    if (csrf === "exempt") {
      token.isExempt = true;
      return inner(ctx);
    }
    if (bearer === true) return askForBearer(ctx);
    if (detail === FOREIGN) return refuseRequest(ctx, detail);
    // The next attempt of a page of this site needs a cookie. Another site cannot read it.
    token.mayIssue = true;
    return this.redirectBack(ctx, detail);
  }

  /**
   * The client of the page protocol would show the problem as text in a dialog. So it is redirected to its page, or to the root, with a
   * message. Without either page it gets the problem.
   */
  private redirectBack(ctx: Context, detail: string): void | Promise<void> {
    const { expired } = this.settings;
    const back = ctx.get("x-inertia") === "true" ? this.findBackPage(ctx) : undefined;
    if (expired === undefined || back === undefined) return refuseRequest(ctx, detail);
    log.debug("request refused", { status: 303, reason: detail });
    if (typeof expired === "string") return redirectWith(ctx, back, expired);
    return Promise.resolve(ctx)
      .then(expired)
      .then((message) => redirectWith(ctx, back, message), refuseOnError(ctx));
  }

  private findBackPage(ctx: Context): string | undefined {
    const { origin, routes } = this.settings;
    return findSafeReferer(ctx.get("referer"), listSiteOrigins(ctx, origin)) ?? (routes.find("GET", "/") && "/");
  }
}

function redirectWith(ctx: Context, back: string, message: string): void {
  if (ctx.isAbandoned) return;
  FlashPort.find(ctx)?.addMessage("error", message);
  ctx.clearBody();
  ctx.setStatus(303);
  ctx.raw.setHeader("Location", back);
}

/** An unsafe request that the stage has to decide on. */
interface Admission {
  readonly ctx: Context;
  readonly token: CsrfToken;
  readonly inner: Run;
}

/** A request with a bearer token: no browser adds one by itself. */
function hasBearer(ctx: Context): boolean {
  const { authorization } = ctx.incoming.headers;
  return authorization !== undefined && BEARER.test(authorization);
}

function isMatching(maker: TokenMaker, id: string, cookies: readonly string[], given: string): boolean {
  return cookies.some((cookie) => maker.isValid(cookie, id) && maker.matches(cookie, given));
}

/**
 * The fields of a form, which the handler can still read. `undefined` for another body, and for a form with files if the application reads
 * no uploads.
 */
function readRequestForm(ctx: Context): Promise<unknown> | undefined {
  const type = ctx.get("content-type");
  if (URLENCODED.test(type)) return readForm(ctx);
  return MULTIPART.test(type) && ctx.uploadReader !== NO_UPLOADS ? ctx.uploads() : undefined;
}

function findToken(form: unknown): string | undefined {
  // Without a schema the readers return the fields by name.
  const { [TOKEN_FIELD]: field } = form as Readonly<Record<string, unknown>>;
  return typeof field === "string" ? readToken(field) : undefined;
}

/** Refuses a request whose body is too large, malformed or incomplete. */
function refuseOnError(ctx: Context): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof FrameworkError)) throw error;
    if (ctx.mayChange && !ctx.headIsSent) refuseWithError(ctx, error, true);
  };
}

function askForBearer(ctx: Context): void {
  log.debug("request refused", { status: 401, reason: "missing bearer token" });
  refuseWithError(ctx, new UnauthorizedError("This route needs a bearer token.", { challenge: "Bearer" }), true);
}

function refuseRequest(ctx: Context, detail: string): void {
  log.debug("request refused", { status: 403, reason: detail, ...(detail !== FOREIGN && { fix: FIX }) });
  refuse(ctx, new Problem(403, { slug: "csrf", detail }));
}

function issueToken(ctx: Context, token: CsrfToken): void {
  if (ctx.mayChange && !ctx.headIsSent) token.sessionSaved(NOTHING_SAVED, isForSharedCaches(ctx.raw));
}

/**
 * - `"this-site"`: a page of this site;
 * - `"trusted"`: a page of a listed origin;
 * - `"foreign"`: another site, a sibling host included;
 * - `"unknown"`: the headers do not tell, for example in a request of a program.
 */
type RequestSource = "this-site" | "trusted" | "foreign" | "unknown";

/**
 * Where a request comes from, by the headers that browsers send and pages cannot set: `Sec-Fetch-Site` (Fetch Metadata section 2.1) and
 * `Origin` (RFC 6454 section 7). A browser sends `Sec-Fetch-Site` only over HTTPS and to localhost.
 */
function detectSource(ctx: Context, siteOrigin: string, trusted: readonly string[]): RequestSource {
  const { headers } = ctx.incoming;
  const { origin } = headers;
  if (origin !== undefined && isSiteUrl(origin, trusted)) return "trusted";
  const site = ctx.get("sec-fetch-site").toLowerCase();
  // The browser itself compared the origins, also if `Origin` is `null` under the policy no-referrer.
  if (site === "same-origin") return "this-site";
  if (site === "same-site" || site === "cross-site") return "foreign";
  if (origin === undefined || origin.toLowerCase() === "null") return "unknown";
  return isSiteUrl(origin, listSiteOrigins(ctx, siteOrigin)) ? "this-site" : "foreign";
}
