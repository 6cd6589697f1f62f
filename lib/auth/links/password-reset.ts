/**
 * A new password for a person who has forgotten it, by a link to the address. A reset ends all sessions and all other links of the user. It is
 * no sign-in: the person signs in with the new password, and with the second step.
 *
 * @example
 * @account.reset
 * async reset(ctx: ContextOf<typeof account.reset>) {
 *   const { kind } = await this.resets.finish(ctx, ctx.params.id, ctx.input.body);
 *   return redirect().route(kind === "changed" ? account.signInPage : account.forgotPage);
 * }
 */
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import { describeThrown } from "../../errors/thrown-value.js";
import type { Context } from "../../http/request/context.js";
import { tracing } from "../../tracing/tracing.js";
import { AuthUsers } from "../auth-users.js";
import { findLanguageTag } from "../credential-notices.js";
import { Passwords } from "../passwords/passwords.js";
import { createStamp, SignedInSession } from "../signed-in-session.js";
import { AddressLinkFlow } from "./link-flow.js";
import { requireAllowedPassword, requireNewPassword } from "./new-credentials.js";

const log = tracing.target("framework::auth");

/** `expired`: the link is spent, has expired, or was never one. */
export type PasswordResetResult = { readonly kind: "changed"; readonly userId: string } | { readonly kind: "expired" };

export class PasswordReset extends AddressLinkFlow {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys, links: { reset } })";
  protected override readonly purpose = "reset";
  protected readonly users = inject(AuthUsers);
  protected readonly passwords = inject(Passwords);
  protected readonly sessions = inject(SignedInSession);

  /** @throws ValidationError (422) for a password that cannot be one: the link stays valid; otherwise the errors of `SignIn.withPassword` */
  async finish(ctx: Context, id: string, { password }: { readonly password: string }): Promise<PasswordResetResult> {
    this.refuseCrossSite(ctx);
    requireNewPassword(password);
    const link = await this.find(ctx, id);
    if (link === undefined) return { kind: "expired" };
    await requireAllowedPassword(this.users, password, link.email);
    const hash = await this.passwords.hash(password);
    const userId = await this.identities.transaction(() => this.change(ctx, id, hash));
    if (userId === undefined) return { kind: "expired" };
    await this.endSessions(userId);
    log.info("password reset", { user_id: userId });
    return { kind: "changed", userId };
  }

  /** The password has changed already: a session that its store cannot end now ends by its stamp, within a minute. */
  private async endSessions(userId: string): Promise<void> {
    try {
      await this.sessions.endAll(userId);
    } catch (error) {
      log.warn("sessions not ended after a reset: they end within a minute", {
        user_id: userId,
        ...describeThrown(error),
      });
    }
  }

  private async change(ctx: Context, id: string, password: string): Promise<string | undefined> {
    const [, identity] = (await this.spend(ctx, id)) ?? [];
    if (identity === undefined) return undefined;
    const { userId, email, stamp: from } = identity;
    if (!(await this.identities.setPassword(userId, { from, password, stamp: createStamp() }))) return undefined;
    await this.identities.setVerified(userId, ctx.clock.now());
    await this.rows.deleteOfUser(userId);
    await this.notices.send(email, "password", findLanguageTag(ctx));
    return userId;
  }
}
