/**
 * Attempts to sign in at a provider: started here, finished by the callback. An attempt is in a cookie of the browser that has started it,
 * encrypted, so a callback in another browser finds none. Each tab has its cookie. The attempt is valid for ten minutes, for one provider, and
 * once: of two callbacks at the same time one gets it.
 */
import { hash, randomBytes } from "node:crypto";
import { Encrypter } from "../../crypto/encrypter.js";
import { inject } from "../../di/construction/inject.js";
import type { Context } from "../../http/request/context.js";
import { addSetCookie, formatAttributes, readCookieValues } from "../../http/request/cookie.js";
import { Session } from "../../stages/session/session.js";
import { AuthSettings } from "../auth-settings.js";
import { ProviderAccounts } from "../provider-accounts.js";

export interface AttemptValues {
  readonly provider: string;
  /** The person who links an account; without it the attempt is a sign-in. */
  readonly userId?: string | undefined;
  readonly returnTo?: string | undefined;
  readonly remember?: boolean | undefined;
}

export interface SignInAttempt extends AttemptValues {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly expiresAt: number;
}

const ATTEMPT_MS = 600_000;
/** One for each tab. The oldest one makes way. */
const MAX_COOKIES = 4;
/** A page of a sibling domain may have set any number of cookies with such names. */
const MAX_READ = 8;
const STATE = /^[\w-]{43}$/;

export class SignInAttempts {
  private readonly settings = inject(AuthSettings);
  private readonly accounts = inject(ProviderAccounts);
  private readonly encrypter = new Encrypter(this.settings.keys);

  start(ctx: Context, values: AttemptValues): SignInAttempt {
    this.deleteOld(ctx);
    const [state, nonce, codeVerifier] = [createRandom(), createRandom(), createRandom()];
    const attempt = { ...values, state, nonce, codeVerifier, expiresAt: ctx.clock.now() + ATTEMPT_MS };
    const name = toCookieName(ctx, state);
    const text = this.encrypter.encrypt(JSON.stringify(attempt), { context: name });
    addCookie(ctx, name, `${text}; Max-Age=${ATTEMPT_MS / 1000}`);
    return attempt;
  }

  /** The attempt of the state, once. `undefined` for a state that this browser has not, and for one of another provider. */
  async take(ctx: Context, provider: string, state: string): Promise<SignInAttempt | undefined> {
    if (!STATE.test(state)) return undefined;
    const name = toCookieName(ctx, state);
    const found = this.read(ctx, name);
    if (found === undefined) return undefined;
    addCookie(ctx, name, "; Max-Age=0");
    const now = ctx.clock.now();
    if (found.state !== state || found.provider !== provider || found.expiresAt < now) return undefined;
    const isFirst = await this.accounts.useAttempt(hash("sha256", state), { now, expiresAt: found.expiresAt });
    return isFirst ? found : undefined;
  }

  private read(ctx: Context, name: string): SignInAttempt | undefined {
    for (const value of readCookieValues(ctx.incoming.headers.cookie, name, 2)) {
      const text = this.encrypter.decrypt(value, { context: name });
      // Only `start` encrypts in this context.
      if (text !== undefined) return JSON.parse(text) as SignInAttempt;
    }
    return undefined;
  }

  /** Cookies of tabs that were closed: a browser sends all of them with each request. */
  private deleteOld(ctx: Context): void {
    const header = ctx.incoming.headers.cookie ?? "";
    const names = [...header.matchAll(isSecure(ctx) ? SECURE_NAMES : PLAIN_NAMES)].map(([, name = ""]) => name);
    const open = names
      .slice(0, MAX_READ)
      .map((name) => ({ name, expiresAt: this.read(ctx, name)?.expiresAt ?? 0 }))
      .toSorted((one, other) => other.expiresAt - one.expiresAt);
    const old = open.filter(({ expiresAt }, at) => at >= MAX_COOKIES - 1 || expiresAt < ctx.clock.now());
    for (const { name } of old) addCookie(ctx, name, "; Max-Age=0");
  }
}

const SECURE_NAMES = /(?:^|;\s*)(__Host-oauth-[\da-f]{16})(?==)/g;
const PLAIN_NAMES = /(?:^|;\s*)(framework-oauth-[\da-f]{16})(?==)/g;

/** 256 random bits: RFC 7636 section 7.1 asks for them in a code verifier. */
function createRandom(): string {
  return randomBytes(32).toString("base64url");
}

function toCookieName(ctx: Context, state: string): string {
  const prefix = isSecure(ctx) ? "__Host-oauth-" : "framework-oauth-";
  return prefix + hash("sha256", state).slice(0, 16);
}

function addCookie(ctx: Context, name: string, value: string): void {
  // The provider leads back from another site, to which a browser sends no cookie that is strict.
  const attributes = {
    name,
    secure: isSecure(ctx),
    sameSite: "Lax",
    path: "/",
    domain: undefined,
    httpOnly: true,
  } as const;
  addSetCookie(ctx.raw, `${name}=${value}${formatAttributes(attributes)}`);
}

/** As the cookie of the session. */
function isSecure(ctx: Context): boolean {
  return Session.of(ctx).settings.cookie.attributes.secure;
}
