/**
 * A support desk, built from the guide alone: the staff sign in at the company, other services bring the company's tokens, a mobile app those
 * of the desk, and each text is in three languages.
 */
import { Application, ErrorMapping, Module, provide, SecurityHeaders } from "@stagecraft/framework";
import { authentication, AuthMails, redirectToSignIn } from "@stagecraft/framework/auth";
import { authDatabase } from "@stagecraft/framework/auth/db";
import { refreshTokens, tokenIssuing, tokenVerification } from "@stagecraft/framework/auth/jwt";
import { Languages } from "@stagecraft/framework/i18n";
import { Jobs } from "@stagecraft/framework/jobs";
import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { oauth, provider } from "@stagecraft/framework/oauth";
import { CsrfConfig, SessionConfig } from "@stagecraft/framework/session";
import { DeskDatabase, Staff, Tickets } from "./desk-database.js";
import { account, company, desk } from "./endpoints.js";
import { languages } from "./languages.js";
import { DeskMails } from "./mails.js";
import { DeskPages } from "./pages.js";
import { MobileController, TicketsController } from "./program-controllers.js";
import { AccountController, DeskController, ProfileUrl } from "./staff-controllers.js";

export const API = "https://desk.example/api";
const DESK = "https://desk.example";
const KEY = "5a".repeat(64);

export interface DeskSettings {
  /** The provider of the company, which also issues the tokens of other services. */
  readonly issuer: string;
  readonly clientSecret?: string;
  readonly profileUrl?: string;
}

const toCompany = ({ issuer, clientSecret = "secret" }: DeskSettings) =>
  provider({
    name: "company",
    issuer,
    clientId: "desk",
    clientSecret,
    scopes: ["openid", "email", "profile", "offline_access"],
    parameters: { prompt: "consent" },
    keepTokens: true,
    signOut: true,
  });

export function createDesk(settings: DeskSettings) {
  const { issuer, profileUrl = `${issuer}/me` } = settings;
  @Module({
    controllers: [AccountController, DeskController, TicketsController, MobileController],
    providers: [
      DeskDatabase,
      DeskPages,
      Staff,
      Tickets,
      Jobs,
      provide(Languages).useValue(languages),
      provide(ProfileUrl).useValue(profileUrl),
      provide(Mailer).useFactory(() => new MemoryMailer({ from: "desk@desk.example" })),
      ...authentication({ users: Staff, keys: KEY, links: { signUp: account.confirmSignUp } }),
      provide(AuthMails).useClass(DeskMails),
      ...oauth({ providers: [toCompany(settings)], callback: account.callback, signedOut: account.signInPage }),
      ...tokenVerification(company, { issuer, audience: API }),
      ...tokenIssuing(desk, { issuer: DESK, audience: DESK, keys: KEY }),
      ...refreshTokens({ keys: KEY }),
      ...authDatabase(DeskDatabase),
    ],
  })
  class DeskModule {}

  return Application.create(DeskModule)
    .securityHeaders(new SecurityHeaders())
    .errorMapping(new ErrorMapping())
    .session(SessionConfig.pages(KEY).dev())
    .csrf(CsrfConfig.pages().dev())
    .layer(redirectToSignIn(account.signInPage))
    .apiDocs({ page: false, info: { title: "Support desk" }, include: ({ path }) => path.startsWith("/api/") });
}
