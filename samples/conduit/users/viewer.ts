/** The user who sends a request, as the guards of the endpoints name it. */
import { type Context, guard, Guards, inject, Injectable } from "@stagecraft/framework";
import { issuer, tokenIssuing, TokenVerifier } from "@stagecraft/framework/auth/jwt";
import type { SecretKeyMaterial } from "@stagecraft/framework/crypto";
import { unauthorized } from "../errors.js";

export interface Viewer {
  /** The id of the user; `NOBODY` for a visitor. */
  readonly viewer: number;
}

export const NOBODY = 0;

/** Lets visitors in, and users with a token. */
export const anyone = guard<Viewer>("anyone", { scheme: "token", refusals: [401] });
/** Refuses requests without a user. */
export const signedIn = guard<Viewer>("signed-in", { scheme: "token", refusals: [401] });

const conduit = issuer("conduit");
const LIFETIME_MS = 30 * 86_400_000;
const SCHEME = /^(?:Token|Bearer) +(.+)$/i;

/** Tokens that name a user for a month. Their scheme is that of RealWorld, so the guards are those of the sample. */
export function conduitTokens(keys: SecretKeyMaterial) {
  return tokenIssuing(conduit, { issuer: "conduit", audience: "conduit", keys, lifetimeMs: LIFETIME_MS });
}

@Injectable()
export class Viewers {
  private readonly tokens = inject(TokenVerifier.of(conduit));

  @Guards(anyone)
  async recognize(ctx: Context): Promise<Viewer> {
    const token = SCHEME.exec(ctx.get("Authorization"))?.[1];
    if (token === undefined) return { viewer: NOBODY };
    const identity = await this.tokens.verify(token);
    if (identity === undefined) throw unauthorized("token", "is invalid");
    return { viewer: Number(identity.subject) };
  }

  @Guards(signedIn)
  async require(ctx: Context): Promise<Viewer> {
    const { viewer } = await this.recognize(ctx);
    if (viewer === NOBODY) throw unauthorized("token", "is missing");
    return { viewer };
  }
}
