/**
 * Another address for an account. A link goes to the new address, and takes effect when it is opened there; a note goes to the old one. It
 * needs a recent confirmation, also without the guard: an unlocked device must not be enough to take the account over.
 *
 * @example
 * changeEmail: Post("/email", { guards: [signedIn, recentlyConfirmed], body: z.object({ email: z.string() }) })
 */
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import type { Context } from "../../http/request/context.js";
import { tracing } from "../../tracing/tracing.js";
import { findLanguageTag } from "../credential-notices.js";
import type { WithIdentity } from "../guards.js";
import { SignedInSession } from "../signed-in-session.js";
import { authMail } from "./auth-mail-jobs.js";
import { LinkFlow } from "./link-flow.js";
import { requireEmail } from "./new-credentials.js";

const log = tracing.target("framework::auth");

/** `taken`: another account has the address by now. `expired`: the link is spent, has expired, or was never one. */
export interface EmailChangeResult {
  readonly kind: "changed" | "taken" | "expired";
}

export class EmailChange extends LinkFlow {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys, links: { email } })";
  protected override readonly purpose = "email";
  protected readonly sessions = inject(SignedInSession);

  /**
   * @throws ForbiddenError (403) without a confirmation in the last 15 minutes; ValidationError (422) for a text that is no address; otherwise
   * the errors of `SignIn.withPassword`
   */
  async start(ctx: Context & WithIdentity, { email }: { readonly email: string }): Promise<void> {
    this.refuseCrossSite(ctx);
    await this.sessions.requireConfirmation(ctx);
    const address = requireEmail(email);
    const { userId } = ctx.identity;
    await this.limits.count(ctx, `email link ${userId}`);
    const identity = await this.identities.find(userId);
    const { id } = await this.links.add({ purpose: "email", userId, email: address, stamp: identity?.stamp });
    await this.jobs.dispatch(authMail, { kind: "email", email: address, link: id, language: findLanguageTag(ctx) });
  }

  /** Also for a browser without a sign-in: the mail may be read on another device. */
  async finish(ctx: Context, id: string): Promise<EmailChangeResult> {
    this.refuseCrossSite(ctx);
    return this.identities.transaction(() => this.change(ctx, id));
  }

  private async change(ctx: Context, id: string): Promise<EmailChangeResult> {
    const [link, identity] = (await this.spend(ctx, id)) ?? [];
    if (link === undefined || identity === undefined) return { kind: "expired" };
    const { userId, email: before } = identity;
    if (!(await this.identities.setEmail(userId, link.email, ctx.clock.now()))) return { kind: "taken" };
    // Links to the address until now, and those of other changes, must not take the account back.
    await this.rows.deleteOfUser(userId);
    await this.notices.send(before, "email", findLanguageTag(ctx));
    log.info("address changed", { user_id: userId });
    return { kind: "changed" };
  }
}
