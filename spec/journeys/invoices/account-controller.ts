/** Sign-up, sign-in, links of mails, and the account of a person. */
import { type ContextOf, Controller, inject, NotFoundError, redirect } from "@stagecraft/framework";
import {
  AccountDeletion,
  EmailChange,
  MagicLink,
  PasswordChange,
  PasswordConfirmation,
  PasswordReset,
  SecondStepSignIn,
  SignIn,
  SignIns,
  SignUp,
  takeReturnPath,
  type SignInResult,
} from "@stagecraft/framework/auth";
import type { Context } from "@stagecraft/framework";
import { html } from "@stagecraft/framework/mail";
import { account, invoices, keys, security } from "./endpoints.js";
import { AppUsers } from "./users.js";
import { respond, createField, createForm, isForm, refuse, showPage } from "./pages.js";

type OpenOutcome = SignInResult | { readonly kind: "expired" | "password-needed" };

@Controller(account)
export class AccountController {
  private readonly signUps = inject(SignUp);
  private readonly signIns = inject(SignIn);
  private readonly devices = inject(SignIns);
  private readonly resets = inject(PasswordReset);
  private readonly magic = inject(MagicLink);
  private readonly emails = inject(EmailChange);
  private readonly passwords = inject(PasswordChange);
  private readonly confirmation = inject(PasswordConfirmation);
  private readonly steps = inject(SecondStepSignIn);
  private readonly users = inject(AppUsers);
  private readonly deletion = inject(AccountDeletion);

  @account.signUpPage signUpPage(ctx: ContextOf<typeof account.signUpPage>) {
    const fields = [createField("name"), createField("email", "email"), createField("password", "password")];
    return showPage(ctx, {}, "Sign up", createForm(ctx, undefined, "Sign up", fields));
  }

  @account.signUp async signUp(ctx: ContextOf<typeof account.signUp>) {
    const { name, ...credentials } = ctx.input.body;
    await this.signUps.start(ctx, { ...credentials, data: { name } });
    return respond(ctx, account.signInPage.url(), { sent: true }, "Open the link in the mail.");
  }

  @account.openSignUp async openSignUp(ctx: ContextOf<typeof account.openSignUp>) {
    const link = await this.signUps.find(ctx, ctx.params.id);
    if (link === undefined) throw new NotFoundError("The link is spent, or has expired.");
    const fields = link.needsPassword ? [createField("password", "password")] : [];
    return showPage(ctx, link, `Confirm ${link.email}`, createForm(ctx, undefined, "Confirm", fields));
  }

  @account.confirmSignUp async confirmSignUp(ctx: ContextOf<typeof account.confirmSignUp>) {
    return this.signedIn(ctx, await this.signUps.confirm(ctx, ctx.params.id, ctx.input.body));
  }

  @account.signInPage signInPage(ctx: ContextOf<typeof account.signInPage>) {
    const remember = html`<label><input type="checkbox" name="remember" value="true" /> stay signed in</label> `;
    const fields = [createField("email", "email"), createField("password", "password"), remember];
    const content = html`${createForm(ctx, undefined, "Sign in", fields)}
      ${createForm(ctx, account.sendLink.url(), "Mail me a link", [createField("email", "email")])}
      <p>
        <a href="${account.forgotPage.url()}">Forgot the password?</a> <a href="${account.signUpPage.url()}">Sign up</a>
      </p>`;
    return showPage(ctx, {}, "Sign in", content);
  }

  @account.signIn async signIn(ctx: ContextOf<typeof account.signIn>) {
    return this.signedIn(ctx, await this.signIns.withPassword(ctx, ctx.input.body));
  }

  @account.secondStepPage secondStepPage(ctx: ContextOf<typeof account.secondStepPage>) {
    return showPage(
      ctx,
      {},
      "Second step",
      createForm(ctx, undefined, "Go on", [createField("code"), createField("recoveryCode")]),
    );
  }

  @account.secondStep async secondStep(ctx: ContextOf<typeof account.secondStep>) {
    const result = await this.steps.finish(ctx, ctx.input.body);
    if (result.kind === "refused") return refuse(ctx, account.secondStepPage.url(), "The code is wrong.");
    return this.signedIn(ctx, result);
  }

  @account.signOut async signOut(ctx: ContextOf<typeof account.signOut>) {
    await this.devices.end(ctx);
    return respond(ctx, account.signInPage.url(), { kind: "signed-out" });
  }

  @account.forgotPage forgotPage(ctx: ContextOf<typeof account.forgotPage>) {
    return showPage(
      ctx,
      {},
      "Forgot the password",
      createForm(ctx, undefined, "Send a link", [createField("email", "email")]),
    );
  }

  @account.forgot async forgot(ctx: ContextOf<typeof account.forgot>) {
    await this.resets.start(ctx, ctx.input.body);
    return respond(ctx, account.signInPage.url(), { sent: true }, "A mail is on its way.");
  }

  @account.openReset async openReset(ctx: ContextOf<typeof account.openReset>) {
    const link = await this.resets.find(ctx, ctx.params.id);
    if (link === undefined) throw new NotFoundError("The link is spent, or has expired.");
    return showPage(
      ctx,
      link,
      `A new password for ${link.email}`,
      createForm(ctx, undefined, "Set", [createField("password", "password")]),
    );
  }

  @account.reset async reset(ctx: ContextOf<typeof account.reset>) {
    const { kind } = await this.resets.finish(ctx, ctx.params.id, ctx.input.body);
    if (kind === "expired") return refuse(ctx, account.forgotPage.url(), "The link is spent.", 410);
    return respond(ctx, account.signInPage.url(), { kind }, "Sign in with the new password.");
  }

  @account.sendLink async sendLink(ctx: ContextOf<typeof account.sendLink>) {
    await this.magic.start(ctx, ctx.input.body);
    return respond(ctx, account.signInPage.url(), { sent: true }, "A mail is on its way.");
  }

  @account.openLink async openLink(ctx: ContextOf<typeof account.openLink>) {
    const link = await this.magic.find(ctx, ctx.params.id);
    if (link === undefined) throw new NotFoundError("The link is spent, or has expired.");
    return showPage(ctx, link, `Sign in as ${link.email}`, createForm(ctx, undefined, "Sign in"));
  }

  @account.useLink async useLink(ctx: ContextOf<typeof account.useLink>) {
    return this.signedIn(ctx, await this.magic.finish(ctx, ctx.params.id));
  }

  @account.show async showPage(ctx: ContextOf<typeof account.show>) {
    const { email, userId } = ctx.identity;
    const user = await this.users.find(userId);
    const content = html`<p>${user?.name} (${user?.role})</p>
      <p>
        <a href="${security.devices.url()}">Devices</a> <a href="${invoices.index.url()}">Invoices</a>
        <a href="${keys.list.url()}">Passkeys</a>
      </p>
      ${createForm(ctx, account.changePassword.url(), "Change the password", [createField("current", "password"), createField("password", "password")])}
      ${createForm(ctx, account.changeEmail.url(), "Change the address", [createField("email", "email")])}
      ${createForm(ctx, security.startTotp.url(), "Add an authenticator app")}
      ${createForm(ctx, account.remove.url(), "Delete the account")}
      ${createForm(ctx, account.signOut.url(), "Sign out")}`;
    return showPage(ctx, { email, name: user?.name, role: user?.role }, email, content);
  }

  @account.changePassword async changePassword(ctx: ContextOf<typeof account.changePassword>) {
    const { kind } = await this.passwords.change(ctx, ctx.input.body);
    if (kind === "refused") return refuse(ctx, account.show.url(), "The password is wrong.");
    return respond(ctx, account.show.url(), { kind }, "The password is changed.");
  }

  @account.changeEmail async changeEmail(ctx: ContextOf<typeof account.changeEmail>) {
    await this.emails.start(ctx, ctx.input.body);
    return respond(ctx, account.show.url(), { sent: true }, "Open the link in the mail.");
  }

  @account.openEmail async openEmail(ctx: ContextOf<typeof account.openEmail>) {
    const link = await this.emails.find(ctx, ctx.params.id);
    if (link === undefined) throw new NotFoundError("The link is spent, or has expired.");
    return showPage(ctx, link, `Use ${link.email}`, createForm(ctx, undefined, "Confirm"));
  }

  @account.useEmail async useEmail(ctx: ContextOf<typeof account.useEmail>) {
    const { kind } = await this.emails.finish(ctx, ctx.params.id);
    if (kind !== "changed") return refuse(ctx, account.signInPage.url(), "The address is not changed.", 409);
    return respond(ctx, account.show.url(), { kind }, "The address is changed.");
  }

  @account.confirmPage confirmPage(ctx: ContextOf<typeof account.confirmPage>) {
    return showPage(
      ctx,
      {},
      "Confirm your password",
      createForm(ctx, undefined, "Confirm", [createField("password", "password")]),
    );
  }

  @account.confirm async confirm(ctx: ContextOf<typeof account.confirm>) {
    const { kind } = await this.confirmation.confirm(ctx, ctx.input.body);
    if (kind === "refused") return refuse(ctx, account.confirmPage.url(), "The password is wrong.");
    return respond(ctx, await takeReturnPath(ctx, account.show.url()), { kind });
  }

  @account.remove async remove(ctx: ContextOf<typeof account.remove>) {
    await this.deletion.delete(ctx);
    return respond(ctx, account.signUpPage.url(), { kind: "removed" }, "The account is deleted.");
  }

  private async signedIn(ctx: Context, result: OpenOutcome) {
    const { kind } = result;
    if (kind === "signed-in")
      return respond(ctx, isForm(ctx) ? await takeReturnPath(ctx, invoices.index.url()) : "/", { kind });
    if (kind === "second-step") return respond(ctx, account.secondStepPage.url(), { kind });
    if (kind === "password-needed")
      return isForm(ctx) ? redirect().back(account.signInPage.url()) : refuse(ctx, "/", "Give the password.");
    if (kind === "expired") return refuse(ctx, account.signInPage.url(), "The link is spent, or has expired.", 410);
    return refuse(ctx, account.signInPage.url(), "Address or password is wrong.");
  }
}
