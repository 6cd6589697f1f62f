/**
 * The entry point `@stagecraft/framework/auth/guards`: the guards of an identity, as values. A front end may import it: it loads nothing of
 * Node.
 */
export {
  apiToken,
  maybeSignedIn,
  recentlyConfirmed,
  role,
  signedIn,
  verified,
  type SignedInIdentity,
  type TokenIdentity,
  type WithIdentity,
  type WithMaybeIdentity,
  type WithTokenIdentity,
  type WithUserId,
} from "../auth/guards.js";
export {
  bearer,
  type BearerIdentity,
  type BearerOptions,
  issuer,
  type Issuer,
  type WithBearerIdentity,
} from "../auth/jwt/bearer.js";
