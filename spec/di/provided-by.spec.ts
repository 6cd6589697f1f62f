/** A missing class of the framework: one fault for the list of bindings, or the call of the builder, that provides it and its neighbours. */
import { Application, type Binding, Controller, Get, inject, Module, provide, routes } from "@stagecraft/framework";
import { authentication, SignIn } from "@stagecraft/framework/auth";
import { authDatabase } from "@stagecraft/framework/auth/db";
import { signedIn } from "@stagecraft/framework/auth/guards";
import { SessionConfig } from "@stagecraft/framework/session";
import { expect } from "chai";
import { AppUsers, KEY } from "../auth/account-application.js";
import { AppDatabase } from "../auth/auth-database.js";
import { startupErrorOf } from "../support/startup-error-of.js";

const account = routes("account", "/account", { show: Get("/", { guards: [signedIn] }) });

@Controller(account)
class AccountController {
  readonly signIn = inject(SignIn);

  @account.show show() {
    return "hello";
  }
}

class CompanySignIn extends SignIn {}

class Till {
  readonly signIn = inject(CompanySignIn);
}

function faultsOf(providers: readonly (Binding | (new () => object))[], hasSession = true): readonly string[] {
  @Module({
    controllers: [AccountController],
    providers: [provide(AppDatabase).useFactory(() => AppDatabase.on()), AppUsers, ...providers],
  })
  class AccountModule {}
  const builder = Application.create(AccountModule);
  const { diagnostics } = startupErrorOf(() =>
    (hasSession ? builder.session(SessionConfig.dev(KEY)) : builder).build(),
  );
  return diagnostics.map(
    ({ code, what, where, fix }) =>
      `${code} ${what} | ${/and \d+ more places/.exec(where)?.[0].replace(/\d+/, "n") ?? ""} | ${fix}`,
  );
}

const AUTHENTICATION = authentication({ users: AppUsers, keys: KEY });

describe("a missing class of the framework", () => {
  it("is one fault with the list of bindings that provides it and the others", () => {
    expect(faultsOf(AUTHENTICATION)).to.deep.equal([
      "E_PROVIDER_MISSING nothing provides RememberTokens | and n more places | " +
        "add ...authDatabase(AppDatabase) to the providers of AccountModule",
    ]);
  });

  it("is one fault with the call of the builder that provides it", () => {
    expect(faultsOf([...AUTHENTICATION, ...authDatabase(AppDatabase)], false)).to.deep.equal([
      "E_PROVIDER_MISSING nothing provides Sessions | and n more places | call .session(config) on the application's builder",
    ]);
  });

  it("has the usual fix where a class of the application extends it", () => {
    expect(faultsOf([...AUTHENTICATION, ...authDatabase(AppDatabase), Till])).to.deep.equal([
      "E_PROVIDER_MISSING nothing provides CompanySignIn |  | add CompanySignIn, or a binding provide(CompanySignIn)…, " +
        "to the providers of AccountModule, or import a module that exports it",
    ]);
  });
});
