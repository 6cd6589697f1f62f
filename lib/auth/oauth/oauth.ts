/**
 * Sign-in at providers, as a list of bindings after those of `authentication()`.
 *
 * @example
 * providers: [
 *   AppUsers,
 *   ...authentication({ users: AppUsers, keys: settings.authKey }),
 *   ...oauth({ providers: [google({ clientId, clientSecret })], callback: account.finishProvider }),
 *   ...authDatabase(AppDatabase),
 * ]
 */
import { type Binding, provide } from "../../di/provide.js";
import { inject } from "../../di/construction/inject.js";
import { DiagnosticError } from "../../errors/diagnostic.js";
import { Subsystem } from "../../lifecycle/subsystem.js";
import { Clock } from "../../runtime/clock.js";
import type { Class } from "../../runtime/class.js";
import { Sessions } from "../../stages/session/sessions.js";
import { SecondStepChanges } from "../second-step/second-step-changes.js";
import { AuthorizationStart } from "./authorization-start.js";
import { type OAuthOptions, OAuthSettings } from "./oauth-settings.js";
import { expectOpenidClient, OpenidClients } from "./openid-clients.js";
import { ProviderClients } from "./provider-clients.js";
import { ProviderLinks } from "./provider-links.js";
import { ProviderSignIn } from "./provider-sign-in.js";
import { ProviderSignOut } from "./provider-sign-out.js";
import { ProviderTokens } from "./provider-tokens.js";
import { SignInAttempts } from "./sign-in-attempts.js";

const FLOWS: readonly Class[] = [
  SecondStepChanges,
  SignInAttempts,
  AuthorizationStart,
  ProviderTokens,
  ProviderLinks,
  ProviderSignOut,
  ProviderSignIn,
];

/**
 * The part of the readiness: not ready until the configuration of each provider is known. A provider that is down stops no start, and one that
 * was up once changes nothing any more.
 */
export class ProviderReadiness extends Subsystem {
  override readonly kind = "oauth";
  private readonly settings = inject(OAuthSettings);
  private readonly clients = inject(ProviderClients);
  private readonly sessions = inject(Sessions);

  /** The first use, or the first probe, fetches the configuration. @throws DiagnosticError `E_OAUTH_SESSION` */
  override start(): void {
    if (!this.sessions.isStrict) return;
    throw new DiagnosticError({
      code: "E_OAUTH_SESSION",
      what: "the cookie of the session is SameSite=Strict: a browser that comes back from a provider does not send it, so the person is not signed in",
      where: "oauth()",
      fix: "take the session for pages: .session(SessionConfig.pages(key)), with .dev() for plain HTTP",
    });
  }

  override stop(): void {
    // No request is open without a deadline.
  }

  override async probe(): Promise<void> {
    await Promise.all([...this.settings.providers.values()].map((each) => this.clients.probe(each)));
  }
}

/** @throws FrameworkError `E_OPTION`, `E_OAUTH_OPTION`; without the package `E_PEER_MISSING` */
export function oauth(options: OAuthOptions): readonly Binding[] {
  const settings = new OAuthSettings(options);
  expectOpenidClient();
  return [
    provide(OAuthSettings).useValue(settings),
    provide(ProviderClients).useFactory((resolve) => new OpenidClients(settings, resolve(Clock))),
    ...FLOWS.map((flow) => provide(flow).useClass(flow)),
    provide(ProviderReadiness).useClass(ProviderReadiness),
  ];
}
