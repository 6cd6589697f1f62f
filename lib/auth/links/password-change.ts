/**
 * Another password for a person who knows the one until now. The other sessions of the person end, and so do the links of mails; this session
 * goes on under a new id. A note goes to the address.
 *
 * @example
 * changePassword: Post("/password", { guards: [signedIn], body: z.object({ current: z.string(), password: z.string() }) })
 */
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import type { Context } from "../../http/request/context.js";
import { tracing } from "../../tracing/tracing.js";
import { AuthUsers } from "../auth-users.js";
import { CredentialNotices, findLanguageTag } from "../credential-notices.js";
import type { WithIdentity } from "../guards.js";
import { Identities } from "../identities.js";
import type { Identity } from "../identity.js";
import { Passwords } from "../passwords/passwords.js";
import { createStamp, SignedInSession } from "../signed-in-session.js";
import { PasswordConfirmation } from "../sign-in/password-confirmation.js";
import { requireAllowedPassword, requireNewPassword } from "./new-credentials.js";
import { SingleUseLinks } from "./single-use-links.js";

const log = tracing.target("framework::auth");

export interface PasswordChangeInput {
  /** The password until now. */
  readonly current: string;
  readonly password: string;
}

export class PasswordChange {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys, links })";
  protected readonly confirmation = inject(PasswordConfirmation);
  protected readonly identities = inject(Identities);
  protected readonly users = inject(AuthUsers);
  protected readonly passwords = inject(Passwords);
  protected readonly sessions = inject(SignedInSession);
  protected readonly rows = inject(SingleUseLinks);
  protected readonly notices = inject(CredentialNotices);

  /** @throws ValidationError (422) for a password that cannot be one; otherwise the errors of `SignIn.withPassword` */
  async change(
    ctx: Context & WithIdentity,
    { current, password }: PasswordChangeInput,
  ): Promise<{ readonly kind: "changed" | "refused" }> {
    requireNewPassword(password);
    const identity = await this.confirmation.verify(ctx, current);
    if (identity === undefined) return { kind: "refused" };
    await requireAllowedPassword(this.users, password, identity.email);
    const stamp = createStamp();
    if (!(await this.replace(identity, await this.passwords.hash(password), stamp, findLanguageTag(ctx))))
      return { kind: "refused" };
    await this.sessions.renew(ctx, { userId: identity.userId, stamp }, { confirmedAt: ctx.clock.now() });
    log.info("password changed", { user_id: identity.userId });
    return { kind: "changed" };
  }

  private replace(
    { userId, email, stamp: from }: Identity,
    password: string,
    stamp: string,
    language: string | undefined,
  ): Promise<boolean> {
    return this.identities.transaction(async () => {
      if (!(await this.identities.setPassword(userId, { from, password, stamp }))) return false;
      await this.rows.deleteOfUser(userId);
      await this.notices.send(email, "password", language);
      return true;
    });
  }
}
