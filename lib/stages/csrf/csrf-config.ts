/**
 * The settings of CSRF protection. Each method returns a new value. The value carries the stage, so an application without it loads none
 * of its code.
 *
 * | | `new CsrfConfig()` | `CsrfConfig.dev()` | `CsrfConfig.pages()` |
 * |---|---|---|---|
 * | cookie | `__Host-csrf` | `framework-csrf` | `XSRF-TOKEN` |
 * | header | `x-csrf-token` | `x-csrf-token` | `x-xsrf-token` |
 * | `Secure`, `SameSite` | yes, `Strict` | no, `Strict` | yes, `Lax` |
 *
 * `pages()` has the names that Axios and Inertia use. `CsrfConfig.pages().dev()` is the same without `Secure`: Safari drops such cookies
 * on http://localhost, and every browser does on the address of a local network.
 *
 * @example
 * builder.csrf(CsrfConfig.pages().trust("https://pay.example"));
 */
import { describeToken } from "../../di/token.js";
import { createSetupError } from "../../errors/setup-error.js";
import { valueText } from "../../errors/value-text.js";
import { checkCookie, type CookieAttributes, type SameSite } from "../../http/request/cookie.js";
import { findOrigin } from "../../http/request/origin.js";
import type { Layer } from "../../http/middleware.js";
import { CsrfLayer, type CsrfSettings, type CsrfSite, type ExpiredMessage } from "./csrf-layer.js";

/** Where a script finds the token, and where it sends it. */
export interface CsrfTokenNames {
  readonly cookie: string;
  readonly header: string;
}

const EXPIRED = "The page has expired. Please try again.";

const DEFAULTS: Omit<CsrfSettings, keyof CsrfSite> = {
  // The scripts of the page read the cookie.
  cookie: {
    name: "__Host-csrf",
    path: "/",
    domain: undefined,
    secure: true,
    sameSite: "Strict",
    httpOnly: false,
  },
  header: "x-csrf-token",
  trusted: [],
  expired: undefined,
};

const HEADER = /^[!#$%&'*+\-.^_`|~\w]+$/;

export class CsrfConfig {
  /** @internal */
  readonly slot = "csrf";
  private settings: Omit<CsrfSettings, keyof CsrfSite> = DEFAULTS;

  /** For plain HTTP on the machine of a developer. */
  static dev(): CsrfConfig {
    return new CsrfConfig().cookie("framework-csrf").secure(false);
  }

  /**
   * For pages: the names of the page protocol's client, and `SameSite=Lax`. A refused visit of that client is redirected to its page, with
   * a flash that the page has expired.
   */
  static pages(): CsrfConfig {
    return new CsrfConfig().cookie("XSRF-TOKEN").header("X-XSRF-TOKEN").sameSite("Lax").expiredMessage(EXPIRED);
  }

  /** The same for plain HTTP: without `Secure`, and with the name `framework-csrf` in place of one that needs `Secure`. */
  dev(): CsrfConfig {
    const { name, sameSite } = this.settings.cookie;
    const cookie: Partial<CookieAttributes> = {
      secure: false,
      ...(needsSecure(name) && { name: "framework-csrf" }),
      ...(sameSite === "None" && { sameSite: "Lax" }),
    };
    return this.withCookie(cookie);
  }

  /** The name of the cookie. A name with the prefix `__Host-` or `__Secure-` forces `Secure`. @throws FrameworkError `E_CSRF_COOKIE` */
  cookie(name: string): CsrfConfig {
    return this.withCookie({ name, ...(needsSecure(name) && { secure: true }) });
  }

  /** The name of the header that holds the token. @throws FrameworkError `E_CSRF_HEADER` */
  header(name: string): CsrfConfig {
    if (typeof name === "string" && HEADER.test(name)) return this.with({ header: name.toLowerCase() });
    throw createSetupError(
      "E_CSRF_HEADER",
      `${valueText(name)} cannot be the name of a header: use letters, digits and "-"`,
    );
  }

  /** @throws FrameworkError `E_CSRF_COOKIE` for false with a name that needs `Secure`, and with `SameSite=None` */
  secure(on: boolean): CsrfConfig {
    return this.withCookie({ secure: on });
  }

  /** @throws FrameworkError `E_CSRF_COOKIE` for `None` without `Secure` */
  sameSite(value: SameSite): CsrfConfig {
    return this.withCookie({ sameSite: value });
  }

  /**
   * Origins whose pages may send unsafe requests, without a token: the form of a payment or of a sign-in at another site that is posted
   * back. `https://pay.example`, without a path.
   *
   * @throws FrameworkError `E_CSRF_ORIGIN`
   */
  trust(...origins: readonly string[]): CsrfConfig {
    return this.with({ trusted: [...this.settings.trusted, ...origins.map(checkOrigin)] });
  }

  /**
   * The message that a refused visit of the page protocol finds on its page, as a flash of level `error`; `false`: it gets the problem.
   * A function gets the request, for a message in its language.
   *
   * @throws TypeError unless it is a text, a function or `false`
   */
  expiredMessage(message: ExpiredMessage | false): CsrfConfig {
    if (message !== false && typeof message !== "string" && typeof message !== "function")
      throw new TypeError(`${describeToken(message)} is not a message: give a text, or false for none`);
    return this.with({ expired: message === false ? undefined : message });
  }

  /** The names that a script of a page needs. @internal */
  get names(): CsrfTokenNames {
    return { cookie: this.settings.cookie.name, header: this.settings.header };
  }

  /** @internal */
  toLayer(site: CsrfSite): Layer {
    return new CsrfLayer({ ...this.settings, ...site });
  }

  private withCookie(change: Partial<CookieAttributes>): CsrfConfig {
    return this.with({ cookie: checkCookie({ ...this.settings.cookie, ...change }, "E_CSRF_COOKIE") });
  }

  private with(change: Partial<CsrfSettings>): CsrfConfig {
    const next = new CsrfConfig();
    next.settings = { ...this.settings, ...change };
    return next;
  }
}

function needsSecure(name: string): boolean {
  return /^__(?:host|secure)-/i.test(name);
}

function checkOrigin(origin: string): string {
  const parsed = typeof origin === "string" ? findOrigin(origin) : undefined;
  if (parsed !== undefined && parsed === origin.toLowerCase()) return parsed;
  throw createSetupError(
    "E_CSRF_ORIGIN",
    `${valueText(origin)} is not an origin: write https://pay.example, without a path`,
  );
}
