/**
 * The sign-out at a provider that has one (OpenID Connect RP-Initiated Logout 1.0). The ID token that it asks for is in the session, encrypted,
 * for providers with `signOut` alone.
 */
import { Encrypter } from "../../crypto/encrypter.js";
import { inject } from "../../di/construction/inject.js";
import type { Context } from "../../http/request/context.js";
import { Session } from "../../stages/session/session.js";
import { sessionKey } from "../../stages/session/session-value.js";
import { tracing } from "../../tracing/tracing.js";
import { AuthSettings } from "../auth-settings.js";
import { IDENTITY } from "../session-identity.js";
import { SignIns } from "../sign-in/sign-ins.js";
import { OAuthSettings } from "./oauth-settings.js";
import type { OAuthProvider } from "./provider.js";
import { ProviderClients, type ProviderTokenValues } from "./provider-clients.js";
import { toReason } from "./provider-tokens.js";

const log = tracing.target("framework::auth");

interface ProviderSession {
  readonly provider: string;
  /** The sign-in of another person in the same session has not the token of this one. */
  readonly userId: string;
  /** Encrypted. */
  readonly idToken: string;
}

const PROVIDER_SESSION = sessionKey<ProviderSession>("auth-provider");
const CONTEXT = { context: "framework provider session" };
/** It stands in a URL. */
const MAX_LENGTH = 8_192;

export class ProviderSignOut {
  private readonly auth = inject(AuthSettings);
  private readonly settings = inject(OAuthSettings);
  private readonly clients = inject(ProviderClients);
  private readonly signIns = inject(SignIns);
  private readonly encrypter = new Encrypter(this.auth.keys);

  remember(
    ctx: Context,
    userId: string,
    { name, signOut }: OAuthProvider,
    { idToken = "" }: ProviderTokenValues,
  ): void {
    const session = Session.of(ctx);
    if (!signOut || idToken === "" || idToken.length > MAX_LENGTH) session.forget(PROVIDER_SESSION);
    else session.put(PROVIDER_SESSION, { provider: name, userId, idToken: this.encrypter.encrypt(idToken, CONTEXT) });
  }

  async end(ctx: Context): Promise<string | undefined> {
    const session = Session.of(ctx);
    const [current, identity] = [await session.get(PROVIDER_SESSION), await session.get(IDENTITY)];
    await this.signIns.end(ctx);
    if (current?.userId !== identity?.userId) return undefined;
    const provider = this.settings.providers.get(current?.provider ?? "");
    const idToken = this.encrypter.decrypt(current?.idToken, CONTEXT);
    return provider === undefined || idToken === undefined ? undefined : this.findUrl(provider, idToken);
  }

  /** The sign-out here has succeeded, so a provider that does not respond is no failure. */
  private async findUrl(provider: OAuthProvider, idToken: string): Promise<string | undefined> {
    const { signedOut } = this.settings;
    const returnUrl = signedOut && this.auth.config.absoluteUrl(signedOut.url());
    try {
      return (await this.clients.findSignOutUrl(provider, { idToken, returnUrl }))?.href;
    } catch (error) {
      log.warn("sign-out at a provider failed", { provider: provider.name, reason: toReason(error) });
      return undefined;
    }
  }
}
