/**
 * The guards of an identity, as values. A front end may import them with its tables: they load nothing of Node. `authentication()` provides
 * their code on the server.
 *
 * @example
 * export const account = routes("account", "/account", {
 *   home: Get("/home", { guards: [maybeSignedIn] }),
 *   show: Get("/", { guards: [signedIn] }),
 *   remove: Delete("/", { guards: [signedIn, recentlyConfirmed] }),
 *   audit: Get("/audit", { guards: [signedIn, role("admin")] }),
 *   export: Get("/export", { guards: [apiToken("account:read")] }),
 * });
 */
import { guard } from "../endpoints/guard.js";

/** The person behind a request, without a secret: a handler may log it, and a page may show it. */
export interface SignedInIdentity {
  /** The id that `AuthUsers.create` has returned. */
  readonly userId: string;
  /** In its normal form. An address that changes is here within a minute. */
  readonly email: string;
  /** Whether the person has shown that the address is theirs. */
  readonly isVerified: boolean;
  /** The sign-in on this device: it stays while sessions change. */
  readonly signInId: string;
}

/** The value that `signedIn` adds to the context of a handler. */
export interface WithIdentity {
  readonly identity: SignedInIdentity;
}

/** A session in which somebody has signed in. Adds `identity`, and `Cache-Control: no-store`; refuses with 401. */
export const signedIn = guard<WithIdentity>("signed-in", { scheme: "session", refusals: [401] });

/** The value that `maybeSignedIn` adds to the context of a handler. */
export interface WithMaybeIdentity {
  readonly identity: SignedInIdentity | undefined;
}

/**
 * In the place of `signedIn`, for what visitors see too. Adds `identity`, which is `undefined` for a visitor, and for others `Cache-Control:
 * no-store`; never refuses.
 */
export const maybeSignedIn = guard<WithMaybeIdentity>("maybe-signed-in", { scheme: "session", refusals: [] });

const AFTER = { after: [signedIn], refusals: [403] };

/** After `signedIn`: the address of the identity is verified. Refuses with a 403 of the type `unverified`. */
export const verified = guard<object, [], WithIdentity>("verified", AFTER);

/**
 * After `signedIn`: the person has given the password, or another proof, in the last 15 minutes. For what an unlocked device must not do
 * alone. Refuses with a 403 of the type `confirmation`.
 */
export const recentlyConfirmed = guard<object, [], WithIdentity>("recently-confirmed", AFTER);

/** The user for whom a program acts, and what its token allows. A handler may log it. */
export interface TokenIdentity {
  /** The id that `AuthUsers.create` has returned. */
  readonly userId: string;
  readonly tokenId: string;
  /** The scopes that the token was created with. */
  readonly scopes: readonly string[];
}

/** The value that `apiToken` adds to the context of a handler. */
export interface WithTokenIdentity {
  readonly identity: TokenIdentity;
}

/**
 * An API token in the `Authorization` header; with an argument one that has this scope. Adds `identity`; refuses with 401, and with a 403 of
 * the type `scope`. It stands in the place of `signedIn`, for the endpoints of programs.
 */
export const apiToken = guard<WithTokenIdentity, [scope?: string]>("api-token", { scheme: "bearer" });

/** The value that `role` reads, of `signedIn` or `apiToken`. */
export interface WithUserId {
  readonly identity: { readonly userId: string };
}

/** After `signedIn` or `apiToken`: `AuthUsers.getRoles` of the user has the role. Refuses with a 403 of the type `role`. */
export const role = guard<object, [role: string], WithUserId>("role", {
  after: [[signedIn, apiToken]],
  refusals: [403],
});
