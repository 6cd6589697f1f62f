/**
 * The second step of a sign-in that waits for it: a code of the authenticator app, or a recovery code. A sign-in waits for ten minutes, in
 * the session in which the password was given.
 *
 * @example
 * secondStep: Post("/second-step", { body: z.object({ code: z.string().optional(), recoveryCode: z.string().optional() }) })
 *
 * const { kind } = await this.secondStep.finish(ctx, ctx.input.body);
 */
import { inject } from "../../di/construction/inject.js";
import type { Context } from "../../http/request/context.js";
import { Session } from "../../stages/session/session.js";
import { tracing } from "../../tracing/tracing.js";
import { AttemptLimits } from "../attempt-limits.js";
import { AuthSettings } from "../auth-settings.js";
import { CredentialNotices, findLanguageTag } from "../credential-notices.js";
import { refuseCrossSite } from "../cross-site.js";
import type { Identity } from "../identity.js";
import { PasskeyStore } from "../passkey-store.js";
import { PENDING, SecondStep } from "../sign-in/second-step.js";
import { SignIn, type SignInResult } from "../sign-in/sign-in.js";
import { Recovery } from "./recovery.js";
import { Totp } from "./totp.js";
import { TotpSecrets } from "./totp-secrets.js";

const log = tracing.target("framework::auth");

/** One of the two. */
export interface SecondStepProof {
  /** Of the authenticator app. Spaces and hyphens do not count. */
  readonly code?: string | undefined;
  /** In any case. Spaces and hyphens do not count. */
  readonly recoveryCode?: string | undefined;
}

/** `expired`: no sign-in waits in this session; the person begins again with the password. */
export type SecondStepResult = SignInResult | { readonly kind: "expired" };

/** A user has a second step after `Totp.confirm`, and with a passkey that is one. Bound by `secondStep()`. */
export class UserSecondStep extends SecondStep {
  protected readonly secrets = inject(TotpSecrets);
  protected readonly passkeys = inject(PasskeyStore);

  override async isRequired(userId: string): Promise<boolean> {
    if ((await this.secrets.find(userId)) !== undefined) return true;
    return (await this.passkeys.listOfUser(userId)).some(({ usage }) => usage === "second-step");
  }
}

export class SecondStepSignIn {
  protected readonly settings = inject(AuthSettings);
  protected readonly limits = inject(AttemptLimits);
  protected readonly signIn = inject(SignIn);
  protected readonly totp = inject(Totp);
  protected readonly recovery = inject(Recovery);
  protected readonly notices = inject(CredentialNotices);

  /** @throws ForbiddenError (403) for a request of another site; TooManyRequestsError (429) after five attempts on a user in fifteen minutes */
  async finish(ctx: Context, proof: SecondStepProof): Promise<SecondStepResult> {
    refuseCrossSite(ctx, this.settings.config.url);
    const waiting = await this.signIn.findPending(ctx);
    if (waiting === undefined) return { kind: "expired" };
    const { identity, pending } = waiting;
    const { userId, stamp } = identity;
    // Only a client with the password gets here, so strangers cannot use the attempts up. A new password has a new stamp, and new attempts.
    await this.limits.countOfAll(ctx, `second step ${userId} ${stamp}`);
    if (!(await this.verify(ctx, identity, proof))) {
      log.info("second step refused", { user_id: userId });
      return { kind: "refused" };
    }
    Session.of(ctx).forget(PENDING);
    return this.signIn.complete(ctx, identity, {
      method: "second-step",
      remember: pending.remember,
      isSecondStepDone: true,
    });
  }

  private async verify(ctx: Context, { userId, email }: Identity, proof: SecondStepProof): Promise<boolean> {
    const { code, recoveryCode } = proof;
    if (code !== undefined) return this.totp.use(userId, code, ctx.clock.now());
    if (recoveryCode === undefined || !(await this.recovery.spend(userId, recoveryCode))) return false;
    await this.notices.send(email, "recovery-code-used", findLanguageTag(ctx));
    return true;
  }
}
