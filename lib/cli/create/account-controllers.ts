/** `src/accounts/account.controller.ts` of a new project: for JSON, and for pages. */

const IMPORTS = `import { PasswordReset, SignIn, SignIns, SignUp`;

const FIELDS = `  private readonly signUps = inject(SignUp);
  private readonly signIns = inject(SignIn);
  private readonly devices = inject(SignIns);
  private readonly resets = inject(PasswordReset);
`;

export const ACCOUNT_CONTROLLER = `import { type ContextOf, Controller, inject, NotFoundError, Reply, UnauthorizedError } from "@stagecraft/framework";
${IMPORTS} } from "@stagecraft/framework/auth";
import { account } from "./account.routes.js";

@Controller(account)
export class AccountController {
${FIELDS}
  @account.show
  show({ identity }: ContextOf<typeof account.show>) {
    return { email: identity.email };
  }

  /** The same response for every address: it does not tell who has an account. */
  @account.signUp
  async signUp(ctx: ContextOf<typeof account.signUp>) {
    const { name, ...credentials } = ctx.input.body;
    await this.signUps.start(ctx, { ...credentials, data: { name } });
    return Reply.json({ sent: true }, 202);
  }

  @account.findSignUp
  async findSignUp(ctx: ContextOf<typeof account.findSignUp>) {
    return (await this.signUps.find(ctx, ctx.params.id)) ?? Promise.reject(createExpired());
  }

  @account.confirmSignUp
  confirmSignUp(ctx: ContextOf<typeof account.confirmSignUp>) {
    return this.signUps.confirm(ctx, ctx.params.id, ctx.input.body);
  }

  @account.signIn
  async signIn(ctx: ContextOf<typeof account.signIn>) {
    const result = await this.signIns.withPassword(ctx, ctx.input.body);
    if (result.kind === "refused") throw new UnauthorizedError("Address or password is wrong.");
    return result;
  }

  @account.signOut
  async signOut(ctx: ContextOf<typeof account.signOut>) {
    await this.devices.end(ctx);
    return Reply.noContent();
  }

  @account.forgot
  async forgot(ctx: ContextOf<typeof account.forgot>) {
    await this.resets.start(ctx, ctx.input.body);
    return Reply.json({ sent: true }, 202);
  }

  @account.findReset
  async findReset(ctx: ContextOf<typeof account.findReset>) {
    return (await this.resets.find(ctx, ctx.params.id)) ?? Promise.reject(createExpired());
  }

  @account.reset
  reset(ctx: ContextOf<typeof account.reset>) {
    return this.resets.finish(ctx, ctx.params.id, ctx.input.body);
  }
}

function createExpired() {
  return new NotFoundError("The link is spent, or has expired.");
}
`;

export const FORM_CONTROLLER = `import { type ContextOf, Controller, inject, redirect } from "@stagecraft/framework";
${IMPORTS}, takeReturnPath } from "@stagecraft/framework/auth";
import { page } from "@stagecraft/framework/pages";
import { account } from "./account.routes.js";

const toSignIn = { href: account.signInPage.url(), text: "Sign in" };
const toSignUp = { href: account.signUpPage.url(), text: "Sign up" };
const toForgot = { href: account.forgotPage.url(), text: "Forgot the password?" };

@Controller(account)
export class AccountController {
${FIELDS}
  @account.signUpPage
  signUpPage() {
    return showForm("Sign up", account.signUp.url(), ["name", "email", "password"], [toSignIn]);
  }

  /** The same page for every address: it does not tell who has an account. */
  @account.signUp
  async signUp(ctx: ContextOf<typeof account.signUp>) {
    const { name, ...credentials } = ctx.input.body;
    await this.signUps.start(ctx, { ...credentials, data: { name } });
    return showForm("Open the mail that was sent, and follow its link", "", [], []);
  }

  @account.confirmPage
  async confirmPage(ctx: ContextOf<typeof account.confirmPage>) {
    const { id } = ctx.params;
    const link = await this.signUps.find(ctx, id);
    if (link === undefined) return showExpired();
    return showForm("Confirm your address", account.confirmSignUp.url(id), link.needsPassword ? ["password"] : [], []);
  }

  @account.confirmSignUp
  async confirmSignUp(ctx: ContextOf<typeof account.confirmSignUp>) {
    const { kind } = await this.signUps.confirm(ctx, ctx.params.id, ctx.input.body);
    if (kind === "expired") return showExpired();
    if (kind === "password-needed") return redirect().back().withErrors({ password: "is not that of this sign-up" });
    return redirect().to("/");
  }

  @account.signInPage
  signInPage() {
    return showForm("Sign in", account.signIn.url(), ["email", "password"], [toSignUp, toForgot]);
  }

  @account.signIn
  async signIn(ctx: ContextOf<typeof account.signIn>) {
    const { kind } = await this.signIns.withPassword(ctx, ctx.input.body);
    if (kind === "signed-in") return redirect().to(await takeReturnPath(ctx, "/"));
    return redirect().back(account.signInPage.url()).withErrors({ email: "address or password is wrong" });
  }

  @account.signOut
  async signOut(ctx: ContextOf<typeof account.signOut>) {
    await this.devices.end(ctx);
    return redirect().route(account.signInPage);
  }

  @account.forgotPage
  forgotPage() {
    return showForm("Set a new password", account.forgot.url(), ["email"], [toSignIn]);
  }

  @account.forgot
  async forgot(ctx: ContextOf<typeof account.forgot>) {
    await this.resets.start(ctx, ctx.input.body);
    return showForm("Open the mail that was sent, and follow its link", "", [], []);
  }

  @account.resetPage
  async resetPage(ctx: ContextOf<typeof account.resetPage>) {
    const link = await this.resets.find(ctx, ctx.params.id);
    if (link === undefined) return showExpired();
    return showForm("Set a new password", account.reset.url(ctx.params.id), ["password"], []);
  }

  @account.reset
  async reset(ctx: ContextOf<typeof account.reset>) {
    const { kind } = await this.resets.finish(ctx, ctx.params.id, ctx.input.body);
    return kind === "expired" ? showExpired() : redirect().route(account.signInPage);
  }
}

type Field = "name" | "email" | "password";

/** @param action the URL that the form is sent to; empty for a page without a form */
function showForm(
  title: string,
  action: string,
  fields: readonly Field[],
  links: readonly { href: string; text: string }[],
) {
  return page("accounts/form", { title, action, fields, links }).head({ title });
}

function showExpired() {
  return showForm("The link is spent, or has expired", "", [], [toSignIn, toForgot]);
}
`;
