/**
 * The entry point `@stagecraft/framework/oauth`: sign-in at providers, by OAuth 2 and OpenID Connect. Needs the package `openid-client`. If it
 * is missing, `oauth()` throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { AuthorizationStart } from "../auth/oauth/authorization-start.js";
export { oauth, ProviderReadiness } from "../auth/oauth/oauth.js";
export { OAuthSettings, type CallbackEndpoint, type OAuthOptions } from "../auth/oauth/oauth-settings.js";
export {
  discord,
  github,
  gitlab,
  google,
  microsoft,
  type GitlabOptions,
  type MicrosoftOptions,
  type PresetOptions,
} from "../auth/oauth/presets.js";
export {
  provider,
  OAuthProvider,
  readClaims,
  type ProfileSource,
  type ProviderClientAuth,
  type ProviderEndpoints,
  type ProviderOptions,
  type RawProfile,
} from "../auth/oauth/provider.js";
export {
  ProviderClients,
  ProviderGrant,
  ProviderRefusalError,
  ProviderUnavailableError,
  type AuthorizationCallback,
  type AuthorizationRequest,
  type ProviderProfile,
  type ProviderTokenValues,
} from "../auth/oauth/provider-clients.js";
export { ProviderLinks, type ListedAccount, type UnlinkResult } from "../auth/oauth/provider-links.js";
export {
  ProviderSignIn,
  type ProviderSignInResult,
  type ProviderSignUpData,
  type ProviderStart,
} from "../auth/oauth/provider-sign-in.js";
export { ProviderSignOut } from "../auth/oauth/provider-sign-out.js";
export { ProviderTokens, type AccessTokenResult } from "../auth/oauth/provider-tokens.js";
export { SignInAttempts, type AttemptValues, type SignInAttempt } from "../auth/oauth/sign-in-attempts.js";
