/**
 * The deletion of an account: the user of the application, the identity and all that belongs to it, in one transaction, and then its sessions
 * and remembered devices. Not for a user who only may not sign in any more: that is `AuthUsers.canSignIn`.
 *
 * @example
 * remove: Post("/remove", { guards: [signedIn, recentlyConfirmed] })
 *
 * @account.remove async remove(ctx: ContextOf<typeof account.remove>) {
 *   await this.deletion.delete(ctx);
 *   return redirect().to("/");
 * }
 */
import { inject } from "../di/construction/inject.js";
import { PROVIDED_BY } from "../di/provided-by.js";
import type { Context } from "../http/request/context.js";
import { tracing } from "../tracing/tracing.js";
import { AuthSettings } from "./auth-settings.js";
import { AuthUsers } from "./auth-users.js";
import { refuseCrossSite } from "./cross-site.js";
import type { WithIdentity } from "./guards.js";
import { Identities } from "./identities.js";
import { SignedInSession } from "./signed-in-session.js";
import { SignIns } from "./sign-in/sign-ins.js";
import { ApiTokens } from "./tokens/api-tokens.js";

const log = tracing.target("framework::auth");

export class AccountDeletion {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys })";
  protected readonly settings = inject(AuthSettings);
  protected readonly users = inject(AuthUsers);
  protected readonly identities = inject(Identities);
  protected readonly tokens = inject(ApiTokens);
  protected readonly signIns = inject(SignIns);
  protected readonly sessions = inject(SignedInSession);

  /**
   * Deletes the account of the person, who is signed out everywhere then.
   *
   * @throws ForbiddenError (403) for a request of another site, and without a confirmation in the last 15 minutes
   */
  async delete(ctx: Context & WithIdentity): Promise<void> {
    refuseCrossSite(ctx, this.settings.config.url);
    await this.sessions.requireConfirmation(ctx);
    await this.deleteUser(ctx.identity.userId);
    // The cookies of this device, and the session that the response would save.
    await this.signIns.end(ctx);
  }

  /** Deletes the account of any user: for an administrator. Outside of a transaction. */
  async deleteUser(userId: string): Promise<void> {
    await this.identities.transaction(async () => {
      await this.users.delete(userId);
      await this.tokens.revokeAll(userId);
      await this.identities.delete(userId);
    });
    await this.signIns.endAll(userId);
    log.info("account deleted", { user_id: userId });
  }
}
