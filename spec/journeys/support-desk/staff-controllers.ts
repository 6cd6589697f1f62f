/** What the staff see: the sign-in by the company or by a password, the linked accounts, and the desk. */
import { type ContextOf, Controller, inject, NotFoundError, redirect, Reply, token } from "@stagecraft/framework";
import { SignIn, SignUp, takeReturnPath } from "@stagecraft/framework/auth";
import { html } from "@stagecraft/framework/mail";
import { ProviderLinks, ProviderSignIn, ProviderTokens } from "@stagecraft/framework/oauth";
import { Tickets } from "./desk-database.js";
import { account, pages } from "./endpoints.js";
import { createForm, DeskPages } from "./pages.js";

/** The URL of an API of the company that takes the provider's tokens. */
export const ProfileUrl = token<string>("URL of the profile");

const toProblem = (kind: string) => redirect().to(`${account.signInPage.url()}?problem=${kind}`);

@Controller(account)
export class AccountController {
  private readonly view = inject(DeskPages);
  private readonly passwords = inject(SignIn);
  private readonly signUps = inject(SignUp);
  private readonly providers = inject(ProviderSignIn);
  private readonly links = inject(ProviderLinks);

  @account.signInPage signInPage(ctx: ContextOf<typeof account.signInPage>) {
    const { problem } = ctx.input.query;
    return this.view.render(ctx, "page-sign-in", (t) => {
      const alert = problem === undefined ? "" : html`<p role="alert">${t("page-problem", { kind: problem })}</p>`;
      const fields = [
        html`<label>${t("page-email")} <input name="email" /></label>`,
        html`<label>${t("page-password")} <input name="password" type="password" /></label>`,
      ];
      const link = html`<a href="${account.start.url("company")}">${t("page-company")}</a>`;
      return html`${alert}${link}${createForm(ctx, t("page-sign-in"), fields)}`;
    });
  }

  @account.signIn async signIn(ctx: ContextOf<typeof account.signIn>) {
    const { kind } = await this.passwords.withPassword(ctx, ctx.input.body);
    return kind === "signed-in" ? redirect().to(await takeReturnPath(ctx, pages.home.url())) : toProblem(kind);
  }

  @account.start start(ctx: ContextOf<typeof account.start>) {
    return this.providers.start(ctx, ctx.params.provider, { returnTo: pages.home.url() });
  }

  @account.callback async finish(ctx: ContextOf<typeof account.callback>) {
    const result = await this.providers.finish(ctx, ctx.params.provider);
    return result.kind === "signed-in" || result.kind === "linked"
      ? redirect().to(result.returnTo)
      : toProblem(result.kind);
  }

  @account.signUp async signUp(ctx: ContextOf<typeof account.signUp>) {
    await this.signUps.start(ctx, ctx.input.body);
    return redirect().to(account.signInPage.url());
  }

  @account.signUpPage async signUpPage(ctx: ContextOf<typeof account.signUpPage>) {
    if ((await this.signUps.find(ctx, ctx.params.id)) === undefined) throw new NotFoundError();
    return this.view.render(ctx, "page-confirm", (t) => createForm(ctx, t("page-confirm")));
  }

  @account.confirmSignUp async confirmSignUp(ctx: ContextOf<typeof account.confirmSignUp>) {
    const { kind } = await this.signUps.confirm(ctx, ctx.params.id);
    return kind === "signed-in" ? redirect().to(pages.home.url()) : toProblem(kind);
  }

  @account.signOut async signOut(ctx: ContextOf<typeof account.signOut>) {
    // A page of another site, so no `redirect()` takes it.
    ctx.redirect((await this.providers.signOut(ctx)) ?? account.signInPage.url());
  }

  @account.linked async linked(ctx: ContextOf<typeof account.linked>) {
    const accounts = await this.links.list(ctx);
    return this.view.render(ctx, "page-linked", (t) => {
      const rows = accounts.map(({ provider, email }) => html`<li>${provider}: ${email}</li>`);
      const link = html`<a href="${account.link.url("company")}">${t("page-link")}</a>`;
      return html`<ul>
          ${rows}
        </ul>
        ${link}`;
    });
  }

  @account.link link(ctx: ContextOf<typeof account.link>) {
    return this.links.start(ctx, ctx.params.provider, { returnTo: account.linked.url() });
  }
}

@Controller(pages)
export class DeskController {
  private readonly view = inject(DeskPages);
  private readonly tickets = inject(Tickets);
  private readonly tokens = inject(ProviderTokens);
  private readonly profileUrl = inject(ProfileUrl);

  @pages.home async home(ctx: ContextOf<typeof pages.home>) {
    const count = (await this.tickets.list()).filter(({ status }) => status === "open").length;
    return this.view.render(ctx, "page-desk", (t) => {
      const signOut = createForm(ctx, t("page-sign-out"), [], account.signOut.url());
      return html`<p>${t("page-open", { count })}</p>
        ${signOut}`;
    });
  }

  /** Asks an API of the company as the person. */
  @pages.profile async profile(ctx: ContextOf<typeof pages.profile>) {
    const result = await this.tokens.getAccessToken(ctx.identity.userId, "company");
    if (result.kind !== "token") return Reply.json(result, result.kind === "unavailable" ? 503 : 409);
    const headers = { Authorization: `Bearer ${result.accessToken}` };
    const response = await fetch(this.profileUrl, { headers, signal: ctx.signal });
    return Reply.json((await response.json()) as unknown, response.ok ? 200 : 502);
  }
}
