import { type Context, type ContextOf, Controller, inject, Middleware, redirect } from "@stagecraft/framework";
import {
  Identities,
  PasskeyStore,
  PasswordConfirmation,
  PasswordReset,
  SecondStepSignIn,
  type SecondStepResult,
  SignIn,
  SignIns,
  SignUp,
  takeReturnPath,
  Totp,
} from "@stagecraft/framework/auth";
import { Passkeys } from "@stagecraft/framework/auth/passkeys";
import { clearHistory, optional, page } from "@stagecraft/framework/pages";
import { Session } from "@stagecraft/framework/session";
import { backTo } from "../back-to.js";
import * as pages from "../contracts.js";
import { say, translate } from "../languages.js";
import { home } from "../links.routes.js";
import { MAIL_PLACE } from "../mail-place.js";
import { account } from "./account.routes.js";

/** Signing up, in and out. A refused form leads back to its page, with an error at the field. */
@Controller(account)
@Middleware(backTo())
export class AccountController {
  private readonly signUps = inject(SignUp);
  private readonly signIns = inject(SignIn);
  private readonly steps = inject(SecondStepSignIn);
  private readonly passkeys = inject(Passkeys);
  private readonly resets = inject(PasswordReset);
  private readonly devices = inject(SignIns);
  private readonly confirmations = inject(PasswordConfirmation);
  private readonly totps = inject(Totp);
  private readonly keys = inject(PasskeyStore);
  private readonly identities = inject(Identities);
  private readonly mailPlace = inject(MAIL_PLACE);

  @account.signUp
  signUp() {
    return page(pages.signUp);
  }

  /** The same page for every address: it does not tell who has an account. */
  @account.join
  async join(ctx: ContextOf<typeof account.join>) {
    await this.signUps.start(ctx, ctx.input.body);
    return page(pages.sent, { email: ctx.input.body.email, needsAccount: false, mails: this.mailPlace });
  }

  @account.confirmPage
  async confirmPage(ctx: ContextOf<typeof account.confirmPage>) {
    const link = await this.signUps.find(ctx, ctx.params.id);
    if (link === undefined) return this.lead(ctx, "expired");
    return page(pages.confirmSignUp, { email: link.email, needsPassword: link.needsPassword });
  }

  @account.confirm
  async confirm(ctx: ContextOf<typeof account.confirm>) {
    const { kind } = await this.signUps.confirm(ctx, ctx.params.id, ctx.input.body);
    if (kind === "password-needed") return again(ctx, "password", "field-password-not-of-sign-up");
    return this.lead(ctx, kind);
  }

  @account.signIn
  signIn(ctx: ContextOf<typeof account.signIn>) {
    return page(pages.signIn, { passkey: optional(() => this.passkeys.start(ctx)) });
  }

  /** The same response for an unknown address and for a wrong password. */
  @account.enter
  async enter(ctx: ContextOf<typeof account.enter>) {
    const { remember, ...credentials } = ctx.input.body;
    const { kind } = await this.signIns.withPassword(ctx, { ...credentials, remember: remember === "on" });
    return kind === "refused" ? again(ctx, "email", "field-credentials-wrong") : this.lead(ctx, kind);
  }

  @account.enterByPasskey
  async enterByPasskey(ctx: ContextOf<typeof account.enterByPasskey>) {
    const { response, remember } = ctx.input.body;
    const { kind } = await this.passkeys.finish(ctx, { response, remember: remember === "on" });
    return kind === "refused" ? refusePasskey(ctx, account.signIn) : this.lead(ctx, kind);
  }

  @account.secondStep
  async secondStep(ctx: ContextOf<typeof account.secondStep>) {
    const { userId } = (await this.signIns.findPending(ctx))?.pending ?? {};
    if (userId === undefined) return this.lead(ctx, "expired");
    return page(pages.secondStep, {
      hasTotp: await this.totps.isAdded(userId),
      hasPasskey: (await this.keys.listOfUser(userId)).some(({ usage }) => usage === "second-step"),
      passkey: optional(async () => (await this.passkeys.startSecondStep(ctx)) ?? null),
    });
  }

  /** A code of the app has six digits, and a recovery code is longer. */
  @account.giveCode
  async giveCode(ctx: ContextOf<typeof account.giveCode>) {
    const { code } = ctx.input.body;
    const { kind } = await this.steps.finish(ctx, /^[\d\s-]+$/.test(code) ? { code } : { recoveryCode: code });
    return kind === "refused" ? again(ctx, "code", "field-code-wrong") : this.lead(ctx, kind);
  }

  @account.givePasskey
  async givePasskey(ctx: ContextOf<typeof account.givePasskey>) {
    const { kind } = await this.passkeys.finishSecondStep(ctx, ctx.input.body);
    return kind === "refused" ? refusePasskey(ctx, account.secondStep) : this.lead(ctx, kind);
  }

  @account.forgot
  forgot() {
    return page(pages.forgot);
  }

  @account.sendReset
  async sendReset(ctx: ContextOf<typeof account.sendReset>) {
    await this.resets.start(ctx, ctx.input.body);
    return page(pages.sent, { email: ctx.input.body.email, needsAccount: true, mails: this.mailPlace });
  }

  @account.resetPage
  async resetPage(ctx: ContextOf<typeof account.resetPage>) {
    const link = await this.resets.find(ctx, ctx.params.id);
    return link === undefined ? this.lead(ctx, "expired") : page(pages.reset, { email: link.email });
  }

  @account.reset
  async reset(ctx: ContextOf<typeof account.reset>) {
    const { kind } = await this.resets.finish(ctx, ctx.params.id, ctx.input.body);
    if (kind === "expired") return this.lead(ctx, kind);
    // The reset has ended the session of a person who was signed in, and a message in it would end too.
    Session.of(ctx).regenerate();
    await say(ctx, "success", "flash-new-password");
    return redirect().route(account.signIn);
  }

  @account.again
  async again({ identity }: ContextOf<typeof account.again>) {
    const found = await this.identities.find(identity.userId);
    return page(pages.confirm, { hasPassword: found?.password !== undefined });
  }

  @account.confirmAgain
  async confirmAgain(ctx: ContextOf<typeof account.confirmAgain>) {
    const { kind } = await this.confirmations.confirm(ctx, ctx.input.body);
    if (kind === "refused") return again(ctx, "password", "field-password-wrong");
    return redirect().to(await takeReturnPath(ctx, home.index.url()));
  }

  /** The browser also forgets the pages of its history that were encrypted. */
  @account.leave
  async leave(ctx: Context) {
    await this.devices.end(ctx);
    clearHistory(ctx);
    await say(ctx, "info", "flash-signed-out");
    return redirect().route(home.index);
  }

  /** Where a sign-in leads: on, to its second step, or to its start. */
  private async lead(ctx: Context, kind: SecondStepResult["kind"]) {
    if (kind === "second-step") return redirect().route(account.secondStep);
    if (kind === "signed-in") {
      await say(ctx, "success", "flash-signed-in");
      return redirect().to(await takeReturnPath(ctx, home.index.url()));
    }
    await say(ctx, "error", kind === "expired" ? "flash-expired" : "flash-failed");
    return redirect().route(account.signIn);
  }
}

async function refusePasskey(ctx: Context, form: typeof account.signIn | typeof account.secondStep) {
  await say(ctx, "error", "flash-passkey-refused");
  return redirect().route(form);
}

async function again(ctx: Context, field: string, message: string) {
  return redirect()
    .to(ctx.url)
    .withErrors({ [field]: await translate(ctx, message) });
}
