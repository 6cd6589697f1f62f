/**
 * The CSRF token of a request, for pages that write their forms by hand. A page whose script sends the requests needs no helper: the script
 * copies the token from the cookie to the header.
 *
 * @example
 * `<form method="post" action="/links">${CsrfToken.of(ctx).field()}…</form>`
 */
import { FrameworkError } from "../../errors/framework-error.js";
import { addSetCookie, readCookieValues, isNotModified } from "../../http/request/cookie.js";
import type { Context } from "../../http/request/context.js";
import { Extension, type Extensible } from "../../http/request/extension.js";
import type { SaveResult } from "../session/session-cookie.js";
import { SessionOfRequest, type Session } from "../session/session.js";
import { tracing } from "../../tracing/tracing.js";
import { isCsrfToken, maskToken, NO_SESSION, type TokenMaker } from "./token.js";

const log = tracing.target("framework::http::csrf");

/** The field of a form that holds the token. */
export const TOKEN_FIELD = "_token";

/** A request that sends the name more often is forged. */
const MAX_COOKIES = 4;

/** What all requests of an application share. @internal */
export interface CsrfCookie {
  readonly name: string;
  /** The attributes, as text. */
  readonly suffix: string;
}

interface Issued {
  readonly token: string;
  readonly id: string;
}

export class CsrfToken {
  /** Whether the response may send a token to a browser without one. @internal */
  mayIssue = false;
  /** The route is exempt from the check, so its response sends no token. @internal */
  isExempt = false;
  /** Whether the body may hold the token. */
  private isShown = false;
  // Not `private`: printing the object would show the token, and the cookies of the request.
  readonly #ctx: Context;
  readonly #maker: TokenMaker;
  readonly #session: Session | undefined;
  #received: string | null | undefined = undefined;
  #issued: Issued | undefined = undefined;

  /** @internal */
  constructor(
    ctx: Context,
    private readonly cookie: CsrfCookie,
    maker: TokenMaker,
  ) {
    this.#ctx = ctx;
    this.#maker = maker;
    this.#session = SessionOfRequest.find(ctx);
  }

  /**
   * The token of the request.
   *
   * @throws FrameworkError `E_CSRF_MISSING` with status 500 without a CSRF stage
   */
  static of(ctx: Extensible): CsrfToken {
    const token = TokenOfRequest.find(ctx);
    if (token !== undefined) return token;
    throw new FrameworkError("no CSRF token on this request: turn it on with .csrf(new CsrfConfig())", {
      code: "E_CSRF_MISSING",
    });
  }

  /**
   * The token for a form: a different text at each call, and valid as long as the cookie. The response sets a missing cookie, and shared
   * caches do not store the response.
   */
  masked(): string {
    this.isShown = true;
    return maskToken(this.getToken());
  }

  /** The hidden field of a form: `<input type="hidden" name="_token" value="…">`. */
  field(): string {
    return `<input type="hidden" name="${TOKEN_FIELD}" value="${this.masked()}">`;
  }

  /** The tokens of the request's cookies, whether they belong to the session or not. @internal */
  cookies(): readonly string[] {
    return readCookieValues(this.#ctx.incoming.headers.cookie, this.cookie.name, MAX_COOKIES).filter(isCsrfToken);
  }

  /** The id that tokens of this request must belong to. @internal */
  get requestId(): string {
    return this.#session?.cookieId ?? NO_SESSION;
  }

  /** Sends the browser its token, if it needs a new one. @internal */
  sessionSaved(result: SaveResult, isPublic: boolean): void {
    if (this.isExempt || isNotModified(this.#ctx.raw) || (isPublic && !this.makePrivate())) return;
    const token = this.findTokenToSend(result);
    if (token !== undefined) this.send(token);
  }

  /** A cache would give the page of one visitor, with its token, to visitors who do not have the cookie of the token. */
  private makePrivate(): boolean {
    if (!this.isShown) return false;
    log.warn("Cache-Control: public replaced by no-store: the response holds the CSRF token of a visitor");
    this.#ctx.raw.setHeader("Cache-Control", "no-store");
    return true;
  }

  private findTokenToSend(result: SaveResult): string | undefined {
    const id = result.kind === "cookie" ? result.id : result.kind === "deletion" ? NO_SESSION : this.requestId;
    const issued = this.#issued;
    if (this.isRotated(result)) return issued?.id === id ? issued.token : this.#maker.create(id);
    if (issued !== undefined) return issued.id === id ? issued.token : this.#maker.rebind(issued.token, id);
    const received = this.findReceivedToken();
    if (received === undefined) return this.mayIssue ? this.#maker.create(id) : undefined;
    if (result.kind === "nothing") return undefined;
    // The cookie is sent again when the session is extended or has a new id.
    return this.#maker.isValid(received, id) && id !== NO_SESSION ? received : this.#maker.rebind(received, id);
  }

  /** At a sign-in and a sign-out. */
  private isRotated({ kind }: SaveResult): boolean {
    return kind !== "nothing" && this.#session !== undefined && this.#session.outcome !== "stays";
  }

  /** The cookie with the session's lifetime; without a session stage it lasts as long as the browser runs. */
  private send(token: string): void {
    const { name, suffix } = this.cookie;
    const idleMs = this.#session?.settings.idleMs;
    const age = idleMs === undefined ? "" : `; Max-Age=${Math.floor(idleMs / 1000)}`;
    addSetCookie(this.#ctx.raw, `${name}=${token}${age}${suffix}`);
  }

  /** The token that the browser has after this response, as far as is known now. */
  private getToken(): string {
    const id = this.#session === undefined ? NO_SESSION : this.#session.idAfterSave;
    if (this.#issued?.id === id) return this.#issued.token;
    const received =
      this.#session?.outcome === "moves" || this.#session?.outcome === "ends" ? undefined : this.findReceivedToken();
    if (received !== undefined && id === this.requestId) return received;
    const token = received === undefined ? this.#maker.create(id) : this.#maker.rebind(received, id);
    this.#issued = { token, id };
    return token;
  }

  /** The token of the cookie, if it belongs to the session of the request. */
  private findReceivedToken(): string | undefined {
    if (this.#received === undefined) {
      const id = this.requestId;
      this.#received = this.cookies().find((each) => this.#maker.isValid(each, id)) ?? null;
    }
    return this.#received ?? undefined;
  }
}

/** @internal */
export const TokenOfRequest = new Extension<CsrfToken>("CSRF token");
