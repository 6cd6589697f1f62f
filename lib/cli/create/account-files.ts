/** The accounts of a new project, with `--auth`: sign-up by a mail, sign-in, sign-out, and a new password. */
import { ACCOUNT_CONTROLLER, FORM_CONTROLLER } from "./account-controllers.js";
import type { ProjectOptions } from "./options.js";
import type { ProjectFile } from "./project-file.js";

export function accountFiles(options: ProjectOptions): readonly ProjectFile[] {
  if (!options.auth) return [];
  const withPages = options.pages !== "none";
  return [
    ["src/accounts/account.routes.ts", withPages ? FORM_ROUTES : ROUTES],
    ["src/accounts/account.controller.ts", withPages ? FORM_CONTROLLER : ACCOUNT_CONTROLLER],
    ["src/accounts/accounts.module.ts", MODULE.replace("[name]", options.name)],
  ];
}

const SCHEMAS = `const email = z.object({ email: z.string() });
const password = z.object({ password: z.string() });
const credentials = email.extend(password.shape);
const newAccount = credentials.extend({ name: z.string().min(1).max(100) });
`;

const ROUTES = `import { Get, Post, routes } from "@stagecraft/framework/routes";
import { signedIn } from "@stagecraft/framework/auth/guards";
import { z } from "zod";

${SCHEMAS}
export const account = routes("account", "/account", {
  show: Get("/", { guards: [signedIn] }),
  signUp: Post("/sign-up", { body: newAccount }),
  findSignUp: Get("/sign-up/{id}"),
  confirmSignUp: Post("/sign-up/{id}", { body: password.partial() }),
  signIn: Post("/sign-in", { body: credentials }),
  signOut: Post("/sign-out"),
  forgot: Post("/reset", { body: email }),
  findReset: Get("/reset/{id}"),
  reset: Post("/reset/{id}", { body: password }),
});
`;

const FORM_ROUTES = `import { content, Get, Post, routes } from "@stagecraft/framework/routes";
import type {} from "@stagecraft/framework/pages";
import { z } from "zod";

${SCHEMAS}
/** One page shows each form of the accounts. */
declare module "@stagecraft/framework/pages" {
  interface PageContracts {
    "accounts/form": {
      title: string;
      action: string;
      fields: readonly ("name" | "email" | "password")[];
      links: readonly { href: string; text: string }[];
    };
  }
}

const form = { 200: content.page("accounts/form") };
const formOrElsewhere = { ...form, 303: content.redirect() };

export const account = routes("account", "/account", {
  signUpPage: Get("/sign-up", { responses: form }),
  signUp: Post("/sign-up", { body: newAccount, responses: form }),
  confirmPage: Get("/sign-up/{id}", { responses: form }),
  confirmSignUp: Post("/sign-up/{id}", { body: password.partial(), responses: formOrElsewhere }),
  signInPage: Get("/sign-in", { responses: form }),
  signIn: Post("/sign-in", { body: credentials, responses: { 303: content.redirect() } }),
  signOut: Post("/sign-out", { responses: { 303: content.redirect() } }),
  forgotPage: Get("/reset", { responses: form }),
  forgot: Post("/reset", { body: email, responses: form }),
  resetPage: Get("/reset/{id}", { responses: form }),
  reset: Post("/reset/{id}", { body: password, responses: formOrElsewhere }),
});
`;

const MODULE = `/** Who a user is, and the parts of the framework that sign users up and in. */
import { randomUUID } from "node:crypto";
import { inject, Module, profile, provide } from "@stagecraft/framework";
import { authentication, type AuthOptions, AuthUsers, type NewUser } from "@stagecraft/framework/auth";
import { authDatabase } from "@stagecraft/framework/auth/db";
import { Jobs } from "@stagecraft/framework/jobs";
import { FileMailer, Mailer } from "@stagecraft/framework/mail";
import { mailerFromEnv } from "@stagecraft/framework/mail/smtp";
import { z } from "zod";
import { AppDatabase } from "../database.js";
import { AccountController } from "./account.controller.js";
import { account } from "./account.routes.js";

const FROM = "[name]@localhost";
const NewName = z.object({ name: z.string() });

class AppUsers extends AuthUsers {
  private readonly db = inject(AppDatabase);

  override async create({ data }: NewUser) {
    const id = randomUUID();
    const { name } = NewName.parse(data);
    await this.db.query.insertInto("users").values({ id, name }).execute();
    return id;
  }
}

@Module({ controllers: [AccountController] })
export class AccountsModule {}

/** @param keys sign the links of mails */
export function identities(keys: AuthOptions["keys"]) {
  return [
    AppUsers,
    Jobs,
    provide(Mailer).useFactory(createMailer),
    ...authentication({ users: AppUsers, keys, links: { signUp: account.confirmSignUp, reset: account.reset } }),
    ...authDatabase(AppDatabase),
  ];
}

/** A release sends by SMTP_URL. In development each mail is a file. */
function createMailer() {
  return profile === "release" ? mailerFromEnv({ from: FROM }) : new FileMailer({ folder: "mails", from: FROM });
}
`;
