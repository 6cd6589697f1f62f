/**
 * The port to the providers: everything that needs their network. The default speaks OAuth 2 and OpenID Connect; `ProviderDouble` of
 * `@stagecraft/framework/testing` takes its place in the tests of an application.
 */
import { FrameworkError, UnavailableError } from "../../errors/framework-error.js";
import type { OAuthProvider } from "./provider.js";

/** The person who has signed in at a provider. */
export interface ProviderProfile {
  /** With OpenID Connect the issuer of the ID token, otherwise that of the configuration. */
  readonly issuer: string;
  /** The id of the account at the issuer: 1 to 255 characters of ASCII. */
  readonly subject: string;
  /** In its normal form; `undefined` if the provider tells none. */
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  /** At most 200 characters. */
  readonly name: string | undefined;
}

/** The tokens of a provider, which are secrets. */
export interface ProviderTokenValues {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly idToken?: string | undefined;
  /** Seconds from now in which the access token is valid; `undefined` if the provider tells none. */
  readonly lifetimeS?: number | undefined;
}

export class ProviderGrant {
  // Not `private`: printing the object would show the tokens.
  readonly #tokens: ProviderTokenValues;

  constructor(
    readonly profile: ProviderProfile,
    tokens: ProviderTokenValues,
  ) {
    this.#tokens = tokens;
  }

  get tokens(): ProviderTokenValues {
    return this.#tokens;
  }
}

/** What the browser carries to the provider. */
export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636 section 4.2, by SHA-256. */
  readonly codeChallenge: string;
}

/** What the browser has brought back, and what it is compared with. */
export interface AuthorizationCallback {
  /** The configured URL of the callback, with the query of the request. */
  readonly url: URL;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** The provider does not respond, or not as one. */
export class ProviderUnavailableError extends UnavailableError {
  /**
   * @param reason a short text for the log, which holds nothing that the provider has sent
   * @param provider its name, for the log
   */
  constructor(
    readonly reason: string,
    provider?: string,
  ) {
    super("The provider of the sign-in does not respond. Please try again shortly.", {
      code: "E_OAUTH_UNAVAILABLE",
      cause: new Error(provider === undefined ? reason : `${provider}: ${reason}`),
      headers: { "Retry-After": "10" },
    });
  }
}

/** The provider has refused, or its response is not to be trusted. */
export class ProviderRefusalError extends FrameworkError {
  /** @param reason a code for the log: that of the provider (RFC 6749 section 4.1.2.1), or that of the check that has failed */
  constructor(readonly reason: string) {
    super(`the provider has refused: ${reason}`, { code: "E_OAUTH_REFUSED" });
  }
}

/** Each method rejects with `ProviderUnavailableError` or `ProviderRefusalError`, without a secret. */
export abstract class ProviderClients {
  /** The URL at which the person signs in. */
  abstract createAuthorizationUrl(provider: OAuthProvider, request: AuthorizationRequest): Promise<URL>;

  /** Exchanges the code of a callback, and checks what the provider says. */
  abstract exchange(provider: OAuthProvider, callback: AuthorizationCallback): Promise<ProviderGrant>;

  abstract refresh(provider: OAuthProvider, refreshToken: string): Promise<ProviderTokenValues>;

  /** The URL at which the provider ends its sign-in (OpenID Connect RP-Initiated Logout); `undefined` if it has none. */
  abstract findSignOutUrl(
    provider: OAuthProvider,
    values: { readonly idToken: string; readonly returnUrl: string | undefined },
  ): Promise<URL | undefined>;

  /** Rejects while the configuration of the provider is not known. */
  abstract probe(provider: OAuthProvider): Promise<void>;
}
