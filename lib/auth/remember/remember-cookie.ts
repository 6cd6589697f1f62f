/**
 * The cookie of a device that stays signed in: `<selector>.<generation>.<mac>`. The MAC covers the selector and the generation, so a client
 * cannot invent a token, and the store is never asked for one that this application did not sign.
 */
import { createHmac, type KeyObject, randomBytes } from "node:crypto";
import { deriveKey, readKeys } from "../../crypto/derived-key.js";
import type { SecretKeyMaterial } from "../../errors/secret-keys.js";
import type { Context } from "../../http/request/context.js";
import { addSetCookie, formatAttributes, isForSharedCaches, readCookieValues } from "../../http/request/cookie.js";
import type { HeadCompleter } from "../../http/response/response-head.js";
import { isSame } from "../../runtime/same-text.js";
import { Session } from "../../stages/session/session.js";

/** A token that this application has signed. */
export interface ReceivedToken {
  readonly selector: string;
  readonly generation: number;
}

const PURPOSE = "stagecraft remember-me 1";
const FORM = /^([\da-f]{32})\.(0|[1-9]\d{0,8})\.([\w-]{43})$/;
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
  readonly #keys: readonly [KeyObject, ...(readonly KeyObject[])];

  /** @param keys the first signs, all verify */
  constructor(keys: SecretKeyMaterial) {
    const [first, ...others] = readKeys(keys);
    this.#keys = [deriveKey(first, PURPOSE), ...others.map((key) => deriveKey(key, PURPOSE))];
  }

  static createSelector(): string {
    return randomBytes(16).toString("hex");
  }

  /** `undefined` for a missing, truncated, changed or foreign one. */
  read(ctx: Context): ReceivedToken | undefined {
    for (const value of readCookieValues(ctx.incoming.headers.cookie, readAttributes(ctx).name, MAX_VALUES)) {
      const [, selector = "", generation = "", mac = ""] = FORM.exec(value) ?? [];
      const text = `${selector}.${generation}`;
      if (this.#keys.some((key) => isSame(computeMac(key, text), mac)))
        return { selector, generation: Number(generation) };
    }
    return undefined;
  }

  /** For a new device. No response of a failure has the cookie. */
  write(ctx: Context, token: ReceivedToken, maxAgeMs: number): void {
    this.replace(ctx, token, maxAgeMs);
    ctx.completeHeadWith(withoutCookiesOfFailure);
  }

  /** For the successor of a token, which goes out with every response. */
  replace(ctx: Context, { selector, generation }: ReceivedToken, maxAgeMs: number): void {
    const text = `${selector}.${generation}`;
    this.add(ctx, `${text}.${computeMac(this.#keys[0], text)}; Max-Age=${Math.ceil(maxAgeMs / 1000)}`);
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

function computeMac(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

/** Those of the cookie of the session, for all paths of this host. */
function readAttributes(ctx: Context) {
  const { secure, sameSite } = Session.of(ctx).settings.cookie.attributes;
  const name = secure ? "__Host-remember" : "framework-remember";
  return { name, secure, sameSite, path: "/", domain: undefined, httpOnly: true };
}
