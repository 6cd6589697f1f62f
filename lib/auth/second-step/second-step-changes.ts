/**
 * Changes of a second step, a passkey or an account at a provider: the rows, a new stamp of the identity and the notice to its owner in one transaction. The other sessions of the person end, and so do
 * remembered devices and the links of mails; the session of the request goes on under a new id.
 */
import { inject } from "../../di/construction/inject.js";
import { ConflictError } from "../../errors/framework-error.js";
import type { Context } from "../../http/request/context.js";
import { Session } from "../../stages/session/session.js";
import { tracing } from "../../tracing/tracing.js";
import { AuthSettings } from "../auth-settings.js";
import { type CredentialChange, CredentialNotices, findLanguageTag } from "../credential-notices.js";
import { refuseCrossSite } from "../cross-site.js";
import type { WithIdentity } from "../guards.js";
import { Identities } from "../identities.js";
import { IDENTITY } from "../session-identity.js";
import { createStamp, SignedInSession } from "../signed-in-session.js";

const log = tracing.target("framework::auth");

export class SecondStepChanges {
  private readonly settings = inject(AuthSettings);
  private readonly identities = inject(Identities);
  private readonly sessions = inject(SignedInSession);
  private readonly notices = inject(CredentialNotices);

  /** @throws ForbiddenError (403) for a request of another site, and without a confirmation in the last 15 minutes */
  async requireConfirmation(ctx: Context): Promise<void> {
    refuseCrossSite(ctx, this.settings.config.url);
    await this.sessions.requireConfirmation(ctx);
  }

  /**
   * False if `write` has found nothing to change.
   *
   * @param change for the event and the notice
   * @throws ConflictError (409) if the credentials have changed since the session has seen them: nothing has changed then
   */
  async run(ctx: Context & WithIdentity, change: CredentialChange, write: () => Promise<boolean>): Promise<boolean> {
    const { userId, email } = ctx.identity;
    const from = (await Session.of(ctx).get(IDENTITY))?.stamp ?? "";
    const stamp = createStamp();
    const isChanged = await this.identities.transaction(async () => {
      if (!(await write())) return false;
      if (!(await this.identities.setStamp(userId, { from, stamp })))
        throw new ConflictError("Your account has changed in the meantime. Sign in again.", { code: "E_AUTH_CHANGED" });
      // The address in the session may be the one of a minute ago.
      const to = (await this.identities.find(userId))?.email ?? email;
      await this.notices.send(to, change, findLanguageTag(ctx));
      return true;
    });
    if (!isChanged) return false;
    await this.sessions.renew(ctx, { userId, stamp });
    log.info("credentials changed", { user_id: userId, change });
    return true;
  }
}
