/** An invoicing product with accounts, built from the guide alone by an engineer who did not know the framework. */
import {
  Application,
  type Context,
  ErrorMapping,
  Module,
  provide,
  redirect,
  Reply,
  ValidationError,
  FrameworkError,
} from "@stagecraft/framework";
import { authentication, redirectToSignIn, secondStep } from "@stagecraft/framework/auth";
import { authDatabase } from "@stagecraft/framework/auth/db";
import { passkeys } from "@stagecraft/framework/auth/passkeys";
import { Jobs } from "@stagecraft/framework/jobs";
import { html, Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { CsrfConfig, SessionConfig } from "@stagecraft/framework/session";
import { DatabaseSessionStore } from "@stagecraft/framework/session/db";
import { AccountController } from "./account-controller.js";
import { account } from "./endpoints.js";
import { ApiController, Invoices, InvoicesController, MembersController } from "./invoices.js";
import { KeysController, SecurityController } from "./security-controller.js";
import { AppDatabase, AppUsers, Members } from "./users.js";
import { isForm, wantsPage } from "./pages.js";

const KEY = "ab".repeat(64);

function pageOfError(error: unknown, ctx: Context) {
  if (!wantsPage(ctx)) return undefined;
  const message = error instanceof FrameworkError && error.status < 500 ? error.message : `Error ${ctx.status}`;
  return Reply.html(
    html`<!doctype html><title>${ctx.status}</title>
      <h1>${message}</h1>`.toString(),
  );
}

/** A form that was refused shows its page again, with the faults. */
async function returnToForm(ctx: Context, next: () => Promise<unknown>) {
  try {
    return await next();
  } catch (error) {
    if (!isForm(ctx)) throw error;
    if (!(error instanceof ValidationError)) throw error;
    return redirect().back(ctx.url).withErrors(error);
  }
}

export function createInvoicing() {
  const db = new AppDatabase();

  @Module({
    controllers: [
      AccountController,
      SecurityController,
      KeysController,
      InvoicesController,
      MembersController,
      ApiController,
    ],
    providers: [
      provide(AppDatabase).useValue(db),
      AppUsers,
      Members,
      Invoices,
      Jobs,
      provide(Mailer).useFactory(() => new MemoryMailer({ from: "billing@invoices.example" })),
      ...authentication({
        users: AppUsers,
        keys: KEY,
        links: {
          signUp: account.confirmSignUp,
          reset: account.reset,
          signIn: account.useLink,
          email: account.useEmail,
        },
        tokens: { prefix: "inv" },
      }),
      ...secondStep({ issuer: "Invoices" }),
      ...passkeys({ name: "Invoices" }),
      ...authDatabase(AppDatabase),
    ],
  })
  class AppModule {}

  return Application.create(AppModule)
    .session(SessionConfig.pages(KEY).dev(), new DatabaseSessionStore(db))
    .csrf(CsrfConfig.pages().dev())
    .errorMapping(new ErrorMapping().using(pageOfError))
    .catchPanic()
    .securityHeaders()
    .layer(redirectToSignIn(account.signInPage, { confirm: account.confirmPage }))
    .layer(returnToForm);
}
