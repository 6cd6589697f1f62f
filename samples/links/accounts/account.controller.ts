import { Context, Controller, redirect, Reply, ValidationError } from "@stagecraft/framework";
import { Flash } from "@stagecraft/framework/session";
import { attemptedBefore } from "../form.js";
import { home } from "../links.routes.js";
import { accountPage } from "./account.page.js";
import { account } from "./account.routes.js";
import { Credentials, NewPerson } from "./new-person.js";
import { People } from "./people.js";
import { signIn, signOut } from "./visitor.js";

/** Signing up, in and out. A refused form leads back to its page, with an error at the field. */
@Controller(account)
export class AccountController {
  constructor(private readonly people: People) {}

  @account.signIn
  async showSignIn(ctx: Context) {
    return Reply.html(accountPage("signIn", await attemptedBefore(ctx)));
  }

  @account.enter
  async enter(ctx: Context) {
    const { data } = Credentials.safeParse(await ctx.form());
    if (data === undefined || !(await this.people.knows(data.name, data.password))) {
      // One answer for an unknown name and a wrong password.
      return redirect().route(account.signIn).withErrors({ name: "name or password are wrong" });
    }
    signIn(ctx, data.name);
    Flash.of(ctx).success(`Welcome back, ${data.name}.`);
    return redirect().route(home.index);
  }

  @account.signUp
  async showSignUp(ctx: Context) {
    return Reply.html(accountPage("signUp", await attemptedBefore(ctx)));
  }

  @account.join
  async join(ctx: Context) {
    const again = redirect().route(account.signUp);
    try {
      const { name, password } = await ctx.form(NewPerson);
      if (!(await this.people.add(name, password))) return again.withErrors({ name: "that name is taken" });
      signIn(ctx, name);
      Flash.of(ctx).success(`Welcome, ${name}.`);
      return redirect().route(home.index);
    } catch (error) {
      if (error instanceof ValidationError) return again.withErrors(error);
      throw error;
    }
  }

  @account.leave
  leave(ctx: Context) {
    signOut(ctx);
    Flash.of(ctx).info("You have signed out.");
    return redirect().route(home.index);
  }
}
