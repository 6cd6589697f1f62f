/**
 * Sign-up, sign-in and the rest of an identity, as a list of bindings for a module. The application adds its users, its pages and, with
 * `authDatabase`, the tables. Where the list binds a token again, the later binding replaces a flow.
 *
 * @example
 * @Module({
 *   providers: [
 *     AppUsers,
 *     ...authentication({ users: AppUsers, keys: settings.authKey, links: { reset: account.reset } }),
 *     ...authDatabase(AppDatabase),
 *     provide(SignIn).useClass(CompanySignIn),
 *   ],
 * })
 */
import { AppConfig } from "../app/config.js";
import { type Binding, provide } from "../di/provide.js";
import type { Class } from "../runtime/class.js";
import { Clock } from "../runtime/clock.js";
import { AccountDeletion } from "./account-deletion.js";
import { AttemptLimits } from "./attempt-limits.js";
import { AuthGuards } from "./auth-guards.js";
import { AuthSettings, checkAuthOptions, type AuthLinkEndpoints, type AuthOptions } from "./auth-settings.js";
import { AuthUsers } from "./auth-users.js";
import { CredentialNotices, NoCredentialNotices } from "./credential-notices.js";
import { AuthMailJobs, MailedCredentialNotices } from "./links/auth-mail-jobs.js";
import { AuthMails, PlainAuthMails } from "./links/auth-mails.js";
import { EmailChange } from "./links/email-change.js";
import { MagicLink } from "./links/magic-link.js";
import { PasswordChange } from "./links/password-change.js";
import { PasswordReset } from "./links/password-reset.js";
import { SignedLinks } from "./links/signed-links.js";
import { SignUp } from "./links/sign-up.js";
import { Passwords } from "./passwords/passwords.js";
import { RememberMe } from "./remember/remember-me.js";
import { SignedInSession } from "./signed-in-session.js";
import { PasswordConfirmation } from "./sign-in/password-confirmation.js";
import { NoSecondStep, SecondStep } from "./sign-in/second-step.js";
import { SignIn } from "./sign-in/sign-in.js";
import { SignIns } from "./sign-in/sign-ins.js";
import { ApiTokenGuard } from "./tokens/api-token-guard.js";
import { ApiTokens } from "./tokens/api-tokens.js";

const FLOWS: readonly Class[] = [
  RememberMe,
  SignedInSession,
  AuthGuards,
  SignIn,
  SignIns,
  PasswordConfirmation,
  AccountDeletion,
  ApiTokens,
  ApiTokenGuard,
];
/** They send mails, so they need `Jobs` and a `Mailer`. */
const MAILED: readonly Class[] = [SignedLinks, AuthMailJobs, PasswordChange];
const MAILED_BY_LINK: Readonly<Record<keyof AuthLinkEndpoints, Class>> = {
  signUp: SignUp,
  reset: PasswordReset,
  signIn: MagicLink,
  email: EmailChange,
};

/**
 * The flows by a link need its endpoint in `links`. With `links`, an application provides `Jobs` and a `Mailer` too.
 *
 * @throws FrameworkError `E_OPTION`, `E_AUTH_OPTION`, `E_CRYPTO_KEY`
 */
export function authentication(options: AuthOptions): readonly Binding[] {
  const { users, attempts, links } = checkAuthOptions(options);
  return [
    provide(AuthSettings).useFactory((resolve) => new AuthSettings(options, resolve(AppConfig), resolve(Clock))),
    provide(AuthUsers).useFactory((resolve) => resolve(users)),
    provide(AttemptLimits).useFactory((resolve) => new AttemptLimits(attempts && resolve(attempts))),
    provide(Passwords).useFactory(() => new Passwords()),
    provide(SecondStep).useClass(NoSecondStep),
    provide(CredentialNotices).useClass(NoCredentialNotices),
    ...FLOWS.map(bindToItself),
    ...(links === undefined ? [] : listMailedFlows(links)),
  ];
}

function listMailedFlows(links: AuthLinkEndpoints): readonly Binding[] {
  const flows = Object.entries(MAILED_BY_LINK).filter(([option]) => Object.hasOwn(links, option));
  return [
    provide(AuthMails).useClass(PlainAuthMails),
    provide(CredentialNotices).useClass(MailedCredentialNotices),
    ...MAILED.map(bindToItself),
    ...flows.map(([, flow]) => bindToItself(flow)),
  ];
}

function bindToItself(flow: Class): Binding {
  return provide(flow).useClass(flow);
}
