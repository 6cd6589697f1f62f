/**
 * The code of the guards of an identity. `authentication()` provides it; an application uses the values of
 * `@stagecraft/framework/auth/guards`.
 */
import { allowUnusedGuards, Guards } from "../contracts/guards.js";
import { inject } from "../di/construction/inject.js";
import { markListed } from "../di/unlisted.js";
import { ForbiddenError, UnauthorizedError } from "../errors/framework-error.js";
import type { Context } from "../http/request/context.js";
import type { HeadCompleter } from "../http/response/response-head.js";
import { AuthUsers } from "./auth-users.js";
import {
  maybeSignedIn,
  recentlyConfirmed,
  role,
  signedIn,
  verified,
  type WithIdentity,
  type WithMaybeIdentity,
  type WithUserId,
} from "./guards.js";
import type { SessionIdentity } from "./session-identity.js";
import { SignedInSession } from "./signed-in-session.js";

export class AuthGuards {
  static {
    // A program that checks no identity may import this file too, and a program with one need not use each guard.
    markListed(this);
    allowUnusedGuards(signedIn, maybeSignedIn, verified, recentlyConfirmed, role);
  }

  private readonly sessions = inject(SignedInSession);
  private readonly users = inject(AuthUsers);

  @Guards(signedIn)
  requireIdentity(ctx: Context): WithIdentity | Promise<WithIdentity> {
    const current = this.sessions.find(ctx);
    return current instanceof Promise ? current.then((found) => admit(ctx, found)) : admit(ctx, current);
  }

  @Guards(maybeSignedIn)
  async findIdentity(ctx: Context): Promise<WithMaybeIdentity> {
    const current = await this.sessions.find(ctx);
    return current === undefined ? { identity: undefined } : admit(ctx, current);
  }

  @Guards(verified)
  requireVerified({ identity }: Context & WithIdentity): void {
    if (identity.isVerified) return;
    throw new ForbiddenError("Verify your e-mail address first.", { code: "E_AUTH_UNVERIFIED", slug: "unverified" });
  }

  @Guards(recentlyConfirmed)
  async requireConfirmation(ctx: Context & WithIdentity): Promise<void> {
    await this.sessions.requireConfirmation(ctx);
  }

  @Guards(role)
  async requireRole({ identity }: Context & WithUserId, name: string): Promise<void> {
    if ((await this.users.getRoles(identity.userId)).includes(name)) return;
    throw new ForbiddenError("Your account may not do this.", { code: "E_AUTH_ROLE", slug: "role" });
  }
}

/** After a sign-out the back button must not show the page. A handler may set another value. */
const NO_STORE: HeadCompleter = {
  complete: (_exchange, head) => head.addMissing(["Cache-Control", "no-store"]),
};

function admit(ctx: Context, current: SessionIdentity | undefined): WithIdentity {
  // A 401 has a challenge (RFC 9110 section 11.6.1). No scheme is registered for sessions, and browsers ignore an unknown one.
  if (current === undefined)
    throw new UnauthorizedError("Sign in first.", { code: "E_AUTH_SIGNED_OUT", challenge: "Session" });
  ctx.completeHeadWith(NO_STORE);
  const { userId, email, isVerified, signInId } = current;
  return { identity: { userId, email, isVerified, signInId } };
}
