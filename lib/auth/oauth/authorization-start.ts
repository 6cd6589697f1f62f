/**
 * The first half of the flows of this folder: the redirect to a provider, with PKCE, a state and a nonce that belong to the browser. The URL
 * of the callback comes from the configuration, because a client chooses the `Host` of a request.
 */
import { hash } from "node:crypto";
import { inject } from "../../di/construction/inject.js";
import type { Context } from "../../http/request/context.js";
import { isSafePath, toSafePath } from "../../http/request/safe-path.js";
import { Reply } from "../../http/response/reply.js";
import { AuthSettings } from "../auth-settings.js";
import { refuseCrossSite } from "../cross-site.js";
import { OAuthSettings } from "./oauth-settings.js";
import { ProviderClients } from "./provider-clients.js";
import { type AttemptValues, SignInAttempts } from "./sign-in-attempts.js";

/** It is in a cookie, and a browser drops one of more than 4096 bytes. */
const MAX_PATH_LENGTH = 1024;

export class AuthorizationStart {
  private readonly auth = inject(AuthSettings);
  private readonly settings = inject(OAuthSettings);
  private readonly clients = inject(ProviderClients);
  private readonly attempts = inject(SignInAttempts);

  async start(ctx: Context, { returnTo = "", ...values }: AttemptValues): Promise<Reply<303, undefined>> {
    refuseCrossSite(ctx, this.auth.config.url);
    const provider = this.settings.requireProvider(values.provider);
    // Encoded, a character has up to nine times its length.
    const path = isSafePath(returnTo) ? toSafePath(returnTo) : "";
    const isStored = path !== "" && path.length <= MAX_PATH_LENGTH;
    const attempt = this.attempts.start(ctx, { ...values, returnTo: isStored ? path : undefined });
    const { state, nonce, codeVerifier } = attempt;
    const url = await this.clients.createAuthorizationUrl(provider, {
      redirectUri: this.getCallbackUrl(provider.name),
      state,
      nonce,
      codeChallenge: hash("sha256", codeVerifier, "base64url"),
    });
    return Reply.empty(303)
      .header("Location", url.href)
      .header("Cache-Control", "no-store")
      .header("Referrer-Policy", "no-referrer");
  }

  /** Each provider has a URL, so a response of one is none of another (RFC 9700 section 4.4.2.2). */
  getCallbackUrl(provider: string): string {
    return this.auth.config.absoluteUrl(this.settings.callback.url(provider));
  }
}
