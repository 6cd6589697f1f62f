/** An application with accounts, as the guide writes one: each flow as JSON, on SQLite in memory. */
import {
  Application,
  Clock,
  Controller,
  type ContextOf,
  Get,
  inject,
  Injectable,
  Module,
  Post,
  Problem,
  provide,
  Reply,
  routes,
  type Binding,
  type Class,
} from "@stagecraft/framework";
import {
  type ApiTokenOptions,
  authentication,
  AuthUsers,
  EmailChange,
  Identities,
  MagicLink,
  type NewUser,
  PasswordChange,
  PasswordConfirmation,
  PasswordReset,
  Passwords,
  readEmail,
  SignIn,
  SignIns,
  SignUp,
  redirectToSignIn,
  takeReturnPath,
} from "@stagecraft/framework/auth";
import { authDatabase } from "@stagecraft/framework/auth/db";
import { recentlyConfirmed, role, signedIn, verified } from "@stagecraft/framework/auth/guards";
import { Jobs, MemoryJobs } from "@stagecraft/framework/jobs";
import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { SessionConfig, type SessionStore } from "@stagecraft/framework/session";
import { FakeClock, testApp, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { z } from "zod";
import { until } from "../support/until.js";
import { AppDatabase } from "./auth-database.js";

/** Costs that no real application has. */
export const FAST = { scrypt: { logN: 10, blockSize: 8, parallelism: 1 } };
export const KEY = "5a".repeat(64);
export const PASSWORD = "correct horse battery";

const credentials = z.object({ email: z.string(), password: z.string(), remember: z.boolean().optional() });

const addressForm = z.object({ email: z.string() });
const passwordForm = z.object({ password: z.string() });

export const account = routes("account", "/account", {
  signInPage: Get("/sign-in"),
  signIn: Post("/sign-in", { body: credentials }),
  signOut: Post("/sign-out"),
  signUp: Post("/sign-up", { body: credentials.extend({ name: z.string().optional() }) }),
  confirmSignUpPage: Get("/sign-up/{id}"),
  confirmSignUp: Post("/sign-up/{id}", { body: z.object({ password: z.string().optional() }) }),
  forgot: Post("/reset", { body: addressForm }),
  resetPage: Get("/reset/{id}"),
  reset: Post("/reset/{id}", { body: passwordForm }),
  link: Post("/link", { body: addressForm }),
  linkPage: Get("/link/{id}"),
  openLink: Post("/link/{id}"),
  changeEmail: Post("/email", { guards: [signedIn], body: addressForm }),
  emailPage: Get("/email/{id}"),
  confirmEmail: Post("/email/{id}"),
  changePassword: Post("/password", {
    guards: [signedIn],
    body: z.object({ current: z.string(), password: z.string() }),
  }),
  confirm: Post("/confirm", { guards: [signedIn], body: passwordForm }),
  back: Get("/back"),
  show: Get("/", { guards: [signedIn] }),
  save: Post("/", { guards: [signedIn] }),
  verified: Get("/verified", { guards: [signedIn, verified] }),
  confirmed: Get("/confirmed", { guards: [signedIn, recentlyConfirmed] }),
  admin: Get("/admin", { guards: [signedIn, role("admin")] }),
});

@Injectable()
export class AppUsers extends AuthUsers {
  readonly created: NewUser[] = [];
  readonly roles = new Map<string, readonly string[]>();
  readonly deactivated = new Set<string>();

  override create(user: NewUser): Promise<string> {
    this.created.push(user);
    return Promise.resolve(`user-${this.created.length}`);
  }

  override getRoles(userId: string): Promise<readonly string[]> {
    return Promise.resolve(this.roles.get(userId) ?? []);
  }

  override canSignIn(userId: string): Promise<boolean> {
    return Promise.resolve(!this.deactivated.has(userId));
  }
}

export function toReply<T extends { readonly kind: string }>(result: T) {
  return result.kind === "refused" ? Reply.problem(Problem.of(401, "Address or password is wrong.")) : result;
}

/** What a page shows. */
const toPage = (link: object | undefined) => link ?? Reply.problem(Problem.of(404));

@Controller(account)
class AccountController {
  private readonly signIns = inject(SignIn);
  private readonly devices = inject(SignIns);
  private readonly signUps = inject(SignUp);
  private readonly resets = inject(PasswordReset);
  private readonly links = inject(MagicLink);
  private readonly emails = inject(EmailChange);
  private readonly passwords = inject(PasswordChange);
  private readonly confirmation = inject(PasswordConfirmation);

  @account.signInPage signInPage() {
    return "the page of the sign-in";
  }

  @account.signIn async signIn(ctx: ContextOf<typeof account.signIn>) {
    return toReply(await this.signIns.withPassword(ctx, ctx.input.body));
  }

  @account.signOut async signOut(ctx: ContextOf<typeof account.signOut>) {
    await this.devices.end(ctx);
    return Reply.noContent();
  }

  @account.signUp async signUp(ctx: ContextOf<typeof account.signUp>) {
    const { name, ...input } = ctx.input.body;
    await this.signUps.start(ctx, { ...input, data: { name } });
    return Reply.json({ sent: true }, 202);
  }

  @account.confirmSignUpPage async confirmSignUpPage(ctx: ContextOf<typeof account.confirmSignUpPage>) {
    return toPage(await this.signUps.find(ctx, ctx.params.id));
  }

  @account.confirmSignUp confirmSignUp(ctx: ContextOf<typeof account.confirmSignUp>) {
    return this.signUps.confirm(ctx, ctx.params.id, ctx.input.body);
  }

  @account.forgot async forgot(ctx: ContextOf<typeof account.forgot>) {
    await this.resets.start(ctx, ctx.input.body);
    return Reply.json({ sent: true }, 202);
  }

  @account.resetPage async resetPage(ctx: ContextOf<typeof account.resetPage>) {
    return toPage(await this.resets.find(ctx, ctx.params.id));
  }

  @account.reset reset(ctx: ContextOf<typeof account.reset>) {
    return this.resets.finish(ctx, ctx.params.id, ctx.input.body);
  }

  @account.link async link(ctx: ContextOf<typeof account.link>) {
    await this.links.start(ctx, ctx.input.body);
    return Reply.json({ sent: true }, 202);
  }

  @account.linkPage async linkPage(ctx: ContextOf<typeof account.linkPage>) {
    return toPage(await this.links.find(ctx, ctx.params.id));
  }

  @account.openLink openLink(ctx: ContextOf<typeof account.openLink>) {
    return this.links.finish(ctx, ctx.params.id);
  }

  @account.changeEmail async changeEmail(ctx: ContextOf<typeof account.changeEmail>) {
    await this.emails.start(ctx, ctx.input.body);
    return Reply.json({ sent: true }, 202);
  }

  @account.emailPage async emailPage(ctx: ContextOf<typeof account.emailPage>) {
    return toPage(await this.emails.find(ctx, ctx.params.id));
  }

  @account.confirmEmail confirmEmail(ctx: ContextOf<typeof account.confirmEmail>) {
    return this.emails.finish(ctx, ctx.params.id);
  }

  @account.changePassword async changePassword(ctx: ContextOf<typeof account.changePassword>) {
    return toReply(await this.passwords.change(ctx, ctx.input.body));
  }

  @account.confirm async confirm(ctx: ContextOf<typeof account.confirm>) {
    return toReply(await this.confirmation.confirm(ctx, ctx.input.body));
  }

  @account.back async back(ctx: ContextOf<typeof account.back>) {
    return { path: await takeReturnPath(ctx, "/fallback") };
  }

  @account.show show({ identity }: ContextOf<typeof account.show>) {
    return identity;
  }

  @account.save save() {
    return "saved";
  }

  @account.verified verified() {
    return "verified";
  }

  @account.confirmed confirmed() {
    return "confirmed";
  }

  @account.admin admin() {
    return "admin";
  }
}

export interface AccountOptions {
  readonly clock?: FakeClock;
  readonly bindings?: readonly Binding[];
  readonly db?: AppDatabase;
  readonly controllers?: readonly Class[];
  readonly sessions?: SessionStore;
  readonly session?: SessionConfig;
  readonly tokens?: ApiTokenOptions;
  readonly keys?: readonly string[];
}

/** Builds the application. `bindings` come after those of `authentication()`. */
export function buildAccounts({
  db = AppDatabase.on(),
  bindings = [],
  controllers = [],
  tokens = {},
  keys = [KEY],
  ...more
}: AccountOptions = {}) {
  @Module({
    controllers: [AccountController, ...controllers],
    providers: [
      AppUsers,
      provide(AppDatabase).useValue(db),
      ...authentication({
        users: AppUsers,
        keys,
        tokens,
        links: {
          signUp: account.confirmSignUp,
          reset: account.reset,
          signIn: account.openLink,
          email: account.confirmEmail,
        },
      }),
      provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs() })),
      provide(Mailer).useFactory(() => new MemoryMailer({ from: "shop@shop.example" })),
      ...authDatabase(AppDatabase),
      provide(Passwords).useFactory(() => new Passwords(FAST)),
      ...bindings,
    ],
  })
  class AccountModule {}
  const { session = SessionConfig.pages(KEY).dev(), sessions } = more;
  return Application.create(AccountModule).session(session, sessions).layer(redirectToSignIn(account.signInPage));
}

export async function startAccounts(options: AccountOptions = {}): Promise<TestApp> {
  const clock = options.clock ?? new FakeClock();
  return testApp(buildAccounts(options), provide(Clock).useValue(clock));
}

/** Adds a person with a password, as a confirmed sign-up would. */
export async function addPerson(app: TestApp, userId: string, values: { isVerified?: boolean } = {}): Promise<string> {
  const email = `${userId}@shop.example`;
  await app.resolve(Identities).insert({
    userId,
    email: readEmail(email) ?? "",
    password: await app.resolve(Passwords).hash(PASSWORD),
    stamp: `stamp of ${userId}`,
    verifiedAt: values.isVerified === false ? undefined : 1,
    createdAt: 1,
  });
  return email;
}

export const signIn = (client: TestClient, email: string, password = PASSWORD, headers = {}) =>
  client.post(account.signIn.url(), { json: { email, password }, headers });

/** A client of a person who has signed in. */
export async function signInAs(app: TestApp, userId: string): Promise<TestClient> {
  const client = app.withCookies();
  const response = await signIn(client, `${userId}@shop.example`);
  if (response.status !== 200) throw new Error(`the sign-in of ${userId} has the status ${response.status}`);
  return client;
}

export interface SentMail {
  readonly to: string | undefined;
  readonly subject: string;
  readonly text: string;
  /** Path and query of the link in the mail; `""` without one. */
  readonly link: string;
}

/** The mails so far, when there are `count`. */
export async function mailsOf(app: TestApp, count: number): Promise<readonly SentMail[]> {
  const mailer = app.resolve(Mailer) as MemoryMailer;
  await until(() => mailer.sent.length >= count);
  return mailer.sent.map(({ recipients, subject, text }) => {
    const [url] = /http\S+/.exec(text) ?? [];
    const { pathname, search } = new URL(url ?? "http://none");
    return { to: recipients[0], subject, text, link: url === undefined ? "" : pathname + search };
  });
}
