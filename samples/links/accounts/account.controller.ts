import { Context, type ContextOf, Controller, Middleware, redirect } from "@stagecraft/framework";
import { clearHistory, page } from "@stagecraft/framework/pages";
import { Flash } from "@stagecraft/framework/session";
import { backTo } from "../back-to.js";
import { signInPage, signUpPage } from "../contracts.js";
import { home } from "../links.routes.js";
import { account } from "./account.routes.js";
import { JoinCheck } from "./join-check.js";
import { People } from "./people.js";
import { signIn, signOut } from "./visitor.js";

/** Signing up, in and out. A refused form leads back to its page, with an error at the field. */
@Controller(account)
export class AccountController {
  constructor(private readonly people: People) {}

  @account.signIn
  showSignIn() {
    return page(signInPage);
  }

  @account.enter
  async enter(ctx: ContextOf<typeof account.enter>) {
    const credentials = ctx.input.body;
    if (credentials === undefined || !(await this.people.knows(credentials.name, credentials.password))) {
      // The same response for an unknown name and for a wrong password.
      return redirect().route(account.signIn).withErrors({ name: "name or password are wrong" });
    }
    signIn(ctx, credentials.name);
    Flash.of(ctx).success(`Welcome back, ${credentials.name}.`);
    return redirect().route(home.index);
  }

  @account.signUp
  showSignUp() {
    return page(signUpPage);
  }

  @account.join
  @Middleware(backTo(account.signUp), JoinCheck)
  async join(ctx: ContextOf<typeof account.join>) {
    const { name } = ctx.input.body;
    if (!(await this.people.add(ctx.input.body)))
      return redirect().route(account.signUp).withErrors({ name: "that name is taken" });
    signIn(ctx, name);
    Flash.of(ctx).success(`Welcome, ${name}.`);
    return redirect().route(home.index);
  }

  /** The browser also forgets the pages of its history that were encrypted. */
  @account.leave
  leave(ctx: Context) {
    signOut(ctx);
    clearHistory(ctx);
    Flash.of(ctx).info("You have signed out.");
    return redirect().route(home.index);
  }
}
