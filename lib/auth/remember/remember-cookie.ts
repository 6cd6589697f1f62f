/** The cookie of a device that stays signed in. */
import type { SecretKeyMaterial } from "../../errors/secret-keys.js";
import type { Context } from "../../http/request/context.js";
import { addSetCookie, formatAttributes, isForSharedCaches, readCookieValues } from "../../http/request/cookie.js";
import type { HeadCompleter } from "../../http/response/response-head.js";
import { type ReceivedToken, RotatedTokens } from "../rotated-token.js";
import { Session } from "../../stages/session/session.js";

const PURPOSE = "stagecraft remember-me 1";
/** A request that sends the name more often is forged. */
const MAX_VALUES = 4;

/** A shared cache would sign its readers in. The session stage makes a response private, except a 304. */
const withoutCookies: HeadCompleter = {
  complete: ({ raw }, head) => {
    if (isForSharedCaches(raw)) head.removeByPrefix("set-cookie");
  },
};

/** A sign-in that a store has stopped must not succeed later: the row without its cookie opens nothing. */
const withoutCookiesOfFailure: HeadCompleter = {
  complete: ({ raw }, head) => {
    if (raw.statusCode >= 500) head.removeByPrefix("set-cookie");
  },
};

export class RememberCookie {
  private readonly tokens: RotatedTokens;

  /** @param keys the first signs, all verify */
  constructor(keys: SecretKeyMaterial) {
    this.tokens = new RotatedTokens(keys, PURPOSE);
  }

  /** `undefined` for a missing, truncated, changed or foreign one. */
  read(ctx: Context): ReceivedToken | undefined {
    for (const value of readCookieValues(ctx.incoming.headers.cookie, readAttributes(ctx).name, MAX_VALUES)) {
      const received = this.tokens.parse(value);
      if (received !== undefined) return received;
    }
    return undefined;
  }

  /** For a new device. No response of a failure has the cookie. */
  write(ctx: Context, token: ReceivedToken, maxAgeMs: number): void {
    this.replace(ctx, token, maxAgeMs);
    ctx.completeHeadWith(withoutCookiesOfFailure);
  }

  /** For the successor of a token, which goes out with every response. */
  replace(ctx: Context, token: ReceivedToken, maxAgeMs: number): void {
    this.add(ctx, `${this.tokens.format(token)}; Max-Age=${Math.ceil(maxAgeMs / 1000)}`);
  }

  delete(ctx: Context): void {
    this.add(ctx, "; Max-Age=0");
    ctx.completeHeadWith(withoutCookiesOfFailure);
  }

  private add(ctx: Context, value: string): void {
    const attributes = readAttributes(ctx);
    addSetCookie(ctx.raw, `${attributes.name}=${value}${formatAttributes(attributes)}`);
    ctx.completeHeadWith(withoutCookies);
  }
}

/** Those of the cookie of the session, for all paths of this host. */
function readAttributes(ctx: Context) {
  const { secure, sameSite } = Session.of(ctx).settings.cookie.attributes;
  const name = secure ? "__Host-remember" : "framework-remember";
  return { name, secure, sameSite, path: "/", domain: undefined, httpOnly: true };
}
