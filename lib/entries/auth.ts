/**
 * The entry point `@stagecraft/framework/auth`: identities, and the flows that sign somebody up and in. Needs no further package; the stores
 * are in `…/auth/db`, the guards for tables of endpoints in `…/auth/guards`.
 */
export { authentication } from "../auth/authentication.js";
export { AccountDeletion } from "../auth/account-deletion.js";
export { AuthGuards } from "../auth/auth-guards.js";
export {
  AuthSettings,
  type ApiTokenOptions,
  type AuthLinkEndpoints,
  type AuthOptions,
  type LinkEndpoint,
} from "../auth/auth-settings.js";
export { AuthUsers, type NewUser } from "../auth/auth-users.js";
export { AttemptLimits } from "../auth/attempt-limits.js";
export { CredentialNotices, NoCredentialNotices, type CredentialChange } from "../auth/credential-notices.js";
export type {
  SignedInIdentity,
  TokenIdentity,
  WithIdentity,
  WithMaybeIdentity,
  WithTokenIdentity,
  WithUserId,
} from "../auth/guards.js";
export { Identities, type PasswordReplacement, type StampReplacement } from "../auth/identities.js";
export { Identity, readEmail, type IdentityValues } from "../auth/identity.js";
export { AuthMails, PlainAuthMails, type ChangeMail, type LinkMail, type NoteMail } from "../auth/links/auth-mails.js";
export { EmailChange, type EmailChangeResult } from "../auth/links/email-change.js";
export { AddressLinkFlow, LinkFlow, type OpenLink } from "../auth/links/link-flow.js";
export { MagicLink, type MagicLinkResult } from "../auth/links/magic-link.js";
export { PasswordChange, type PasswordChangeInput } from "../auth/links/password-change.js";
export { PasswordReset, type PasswordResetResult } from "../auth/links/password-reset.js";
export { SignedLinks } from "../auth/links/signed-links.js";
export { SignUp, type NewSignUp, type OpenSignUp, type SignUpResult } from "../auth/links/sign-up.js";
export { SingleUseLink, SingleUseLinks, type LinkPurpose, type LinkValues } from "../auth/links/single-use-links.js";
export {
  Passwords,
  type PasswordOptions,
  type PasswordsOptions,
  type ScryptCost,
  type Argon2idCost,
} from "../auth/passwords/passwords.js";
export { MAX_PASSWORD_BYTES } from "../auth/passwords/password-bytes.js";
export { PasskeyStore, type Passkey, type PasskeyUsage, type PasskeyUse } from "../auth/passkey-store.js";
export {
  ProviderAccounts,
  toAccountId,
  type ProviderAccount,
  type StoredTokens,
  type TokenLease,
} from "../auth/provider-accounts.js";
export { redirectToSignIn, takeReturnPath, type PageEndpoint } from "../auth/return-path.js";
export { RememberMe, type RememberedBy, type RememberedSignIn } from "../auth/remember/remember-me.js";
export {
  RememberTokens,
  type RememberRotation,
  type RememberScope,
  type RememberToken,
} from "../auth/remember/remember-tokens.js";
export type { Rotation } from "../auth/rotated-token.js";
export { RecoveryCodes } from "../auth/second-step/recovery-codes.js";
export { Recovery } from "../auth/second-step/recovery.js";
export { SecondStepChanges } from "../auth/second-step/second-step-changes.js";
export { SecondStepSettings, type SecondStepOptions } from "../auth/second-step/second-step-settings.js";
export {
  SecondStepSignIn,
  UserSecondStep,
  type SecondStepProof,
  type SecondStepResult,
} from "../auth/second-step/second-step-sign-in.js";
export { secondStep } from "../auth/second-step/second-step.js";
export { TotpSecrets, type TotpSecret, type TotpUse } from "../auth/second-step/totp-secrets.js";
export { Totp, type TotpConfirmation, type TotpStart } from "../auth/second-step/totp.js";
export type { SessionIdentity, SignInMethod } from "../auth/session-identity.js";
export { SignedInSession } from "../auth/signed-in-session.js";
export type { SignInDevice } from "../auth/sign-in/device.js";
export { PasswordConfirmation } from "../auth/sign-in/password-confirmation.js";
export { NoSecondStep, SecondStep, type PendingSignIn } from "../auth/sign-in/second-step.js";
export { SignIn, type PasswordSignIn, type SignInCompletion, type SignInResult } from "../auth/sign-in/sign-in.js";
export { SignIns, type ListedSignIn } from "../auth/sign-in/sign-ins.js";
export { ApiTokenGuard } from "../auth/tokens/api-token-guard.js";
export { ApiTokenStore, type ApiToken, type NewApiToken } from "../auth/tokens/api-token-store.js";
export { ApiTokens, type CreatedToken } from "../auth/tokens/api-tokens.js";
export type { NewToken } from "../auth/tokens/new-token.js";
