/**
 * The password once more, before an action that an unlocked device must not do alone: `recentlyConfirmed` asks for it. It counts as an
 * attempt to sign in.
 *
 * @example
 * confirm: Post("/confirm", { guards: [signedIn], body: z.object({ password: z.string() }) })
 *
 * const { kind } = await this.confirmation.confirm(ctx, ctx.input.body);
 */
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import type { Context } from "../../http/request/context.js";
import { AttemptLimits } from "../attempt-limits.js";
import { AuthSettings } from "../auth-settings.js";
import { refuseCrossSite } from "../cross-site.js";
import type { WithIdentity } from "../guards.js";
import { Identities } from "../identities.js";
import type { Identity } from "../identity.js";
import { Passwords } from "../passwords/passwords.js";
import { SignedInSession } from "../signed-in-session.js";

export class PasswordConfirmation {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys })";
  protected readonly settings = inject(AuthSettings);
  protected readonly limits = inject(AttemptLimits);
  protected readonly identities = inject(Identities);
  protected readonly passwords = inject(Passwords);
  protected readonly sessions = inject(SignedInSession);

  /** @throws the errors of `SignIn.withPassword` */
  async confirm(
    ctx: Context & WithIdentity,
    { password }: { readonly password: string },
  ): Promise<{ readonly kind: "confirmed" | "refused" }> {
    if ((await this.verify(ctx, password)) === undefined) return { kind: "refused" };
    await this.sessions.change(ctx, { confirmedAt: ctx.clock.now() });
    return { kind: "confirmed" };
  }

  /** The identity, if the password is theirs. @internal */
  async verify(ctx: Context & WithIdentity, password: string): Promise<Identity | undefined> {
    refuseCrossSite(ctx, this.settings.config.url);
    const { userId, email } = ctx.identity;
    await this.limits.count(ctx, `sign-in ${email}`);
    const identity = await this.identities.find(userId);
    return (await this.passwords.verify(password, identity?.password)) ? identity : undefined;
  }
}
