/**
 * The entry point `@stagecraft/framework/auth/jwt`: access tokens that are JSON Web Tokens, of other issuers and of the application. Needs
 * the package `jose`. If it is missing, `tokenVerification()` throws `E_PEER_MISSING`, which names the command that installs it. The values
 * for tables of endpoints, `issuer` and `bearer`, are in `…/auth/guards` too.
 */
export type { SignatureAlgorithm } from "../auth/jwt/algorithms.js";
export {
  bearer,
  type BearerIdentity,
  type BearerOptions,
  issuer,
  type Issuer,
  type WithBearerIdentity,
} from "../auth/jwt/bearer.js";
export type { JwkSet, TokenHeader, VerificationKey } from "../auth/jwt/key-set.js";
export { RefreshTokenStore, type RefreshFamily } from "../auth/jwt/refresh-token-store.js";
export {
  RefreshTokens,
  refreshTokens,
  type NewRefreshToken,
  type RefreshTokenOptions,
  type IssuedTokens,
} from "../auth/jwt/refresh-tokens.js";
export { SigningKeys, type SigningAlgorithm } from "../auth/jwt/signing-keys.js";
export { TokenIssuer, type NewAccessToken } from "../auth/jwt/token-issuer.js";
export { tokenIssuing, type IssuingOptions } from "../auth/jwt/token-issuing.js";
export { tokenVerification } from "../auth/jwt/token-verification.js";
export { IdentitySubjects, TokenSubjects } from "../auth/jwt/token-subjects.js";
export { TokenVerifier } from "../auth/jwt/token-verifier.js";
export { VerificationKeys } from "../auth/jwt/verification-keys.js";
export type { TokenRules, VerificationOptions } from "../auth/jwt/verification-options.js";
