/**
 * The settings of the session stage: the secret key, the cookie, and the two lifetimes. The value carries the stage, so an application
 * without sessions loads none of their code.
 *
 * Three sets of defaults:
 * - `new SessionConfig(key)`: cookie `__Host-id`, `Secure`, `SameSite=Strict`. For an API that only the pages of the application call.
 * - `SessionConfig.pages(key)`: the same with `SameSite=Lax`. For pages that people reach by links: with `Strict` a visitor who follows
 *   a link in a mail, or returns from a payment, arrives without the session and seems to be signed out.
 * - `SessionConfig.dev(key)`, and `SessionConfig.pages(key).dev()`: cookie `framework-id`, without `Secure`, for plain HTTP.
 *
 * @example
 * builder.session(profile === "release" ? SessionConfig.pages(key) : SessionConfig.pages(key).dev(), store);
 */
import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import type { SecretKeyMaterial } from "../../errors/secret-keys.js";
import { checkWholeNumber } from "../../errors/whole-number.js";
import { provide, type Binding } from "../../di/provide.js";
import { describeToken } from "../../di/token.js";
import { checkCookie, type CookieAttributes, type SameSite } from "../../http/request/cookie.js";
import type { Layer } from "../../http/middleware.js";
import { Clock } from "../../runtime/clock.js";
import { MemorySessionStore } from "./stores/memory-session-store.js";
import { SessionCookie } from "./session-cookie.js";
import { SessionKeys } from "./session-keys.js";
import { SessionLayer } from "./session-layer.js";
import { Sessions } from "./sessions.js";
import { SessionStore } from "./stores/session-store.js";

export interface SessionOptions {
  /** The name of the cookie. */
  readonly name?: string;
  readonly secure?: boolean;
  readonly sameSite?: SameSite;
  /** The default is `/`. */
  readonly path?: string;
  /** Without a domain the cookie belongs to this host alone. */
  readonly domain?: string;
  /**
   * The time without use after which a session ends, in milliseconds; the default is 14 days. The cookie has it as `Max-Age`. A session
   * that holds nothing but the flash ends after ten minutes.
   */
  readonly idleMs?: number;
  /** The time from its creation after which a session ends, in milliseconds; the default is 30 days. */
  readonly absoluteMs?: number;
}

const NAMES: OptionNames<SessionOptions> = {
  name: true,
  secure: true,
  sameSite: true,
  path: true,
  domain: true,
  idleMs: true,
  absoluteMs: true,
};

const DAY_MS = 86_400_000;
const IDLE_MS = 14 * DAY_MS;
const ABSOLUTE_MS = 30 * DAY_MS;

const RELEASE_NAME = "__Host-id";
const DEV_NAME = "framework-id";

export class SessionConfig {
  /** @internal */
  readonly slot = "session";
  private readonly keys: SessionKeys;
  private readonly cookie: CookieAttributes;
  private readonly idleMs: number;
  private readonly absoluteMs: number;

  /**
   * @param key 64 random bytes, or their 128 hexadecimal characters; or a list, of which the first signs and all verify
   * @throws FrameworkError `E_SESSION_KEY`; `E_SESSION_COOKIE` for attributes that browsers refuse; `E_SESSION_TIME` unless both times
   * are whole numbers of milliseconds from 1000 on
   */
  constructor(key: SecretKeyMaterial | SessionKeys, options: SessionOptions = {}) {
    checkOptionNames(options, NAMES, "new SessionConfig");
    const { name = RELEASE_NAME, secure = true, sameSite = "Strict", path = "/", domain } = options;
    this.keys = key instanceof SessionKeys ? key : new SessionKeys(key);
    this.cookie = checkCookie({ name, secure, sameSite, path, domain, httpOnly: true }, "E_SESSION_COOKIE");
    this.idleMs = checkWholeNumber("E_SESSION_TIME", "idleMs", options.idleMs ?? IDLE_MS, [1000]);
    this.absoluteMs = checkWholeNumber("E_SESSION_TIME", "absoluteMs", options.absoluteMs ?? ABSOLUTE_MS, [1000]);
  }

  /** `SameSite=Strict` for plain HTTP on the machine of a developer. */
  static dev(key: SecretKeyMaterial, options: SessionOptions = {}): SessionConfig {
    return new SessionConfig(key, { name: DEV_NAME, secure: false, ...options });
  }

  /** `SameSite=Lax`, for pages. */
  static pages(key: SecretKeyMaterial, options: SessionOptions = {}): SessionConfig {
    return new SessionConfig(key, { sameSite: "Lax", ...options });
  }

  /** The same for plain HTTP: without `Secure`, and with the name `framework-id` in place of one that needs `Secure`. */
  dev(): SessionConfig {
    const { idleMs, absoluteMs } = this;
    const { name, path, domain, sameSite } = this.cookie;
    return new SessionConfig(this.keys, {
      name: /^__(?:host|secure)-/i.test(name) ? DEV_NAME : name,
      secure: false,
      // Without Secure a browser refuses None.
      sameSite: sameSite === "None" ? "Lax" : sameSite,
      path,
      ...(domain !== undefined && { domain }),
      idleMs,
      absoluteMs,
    });
  }

  /** The store of an application that gives none. @internal */
  createStore(): SessionStore {
    return new MemorySessionStore();
  }

  /** What classes may inject. @internal */
  bindings(store: SessionStore): readonly Binding[] {
    const isStrict = this.cookie.sameSite === "Strict";
    return [provide(Sessions).useFactory((resolve) => new Sessions(store, resolve(Clock), isStrict))];
  }

  /** The stage. @internal */
  toLayer(store = this.createStore()): Layer {
    // JavaScript callers may pass anything, and an error at start-up is better than one at the first request.
    if (!(store instanceof SessionStore)) throw new TypeError(`${describeToken(store)} is not a SessionStore`);
    const { keys, idleMs, absoluteMs } = this;
    return new SessionLayer({ cookie: new SessionCookie(this.cookie, keys), keys, store, idleMs, absoluteMs });
  }
}
