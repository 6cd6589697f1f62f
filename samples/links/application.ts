/** The application with the stages of a public service; `main.ts` runs it, the specs use it unchanged. */
import { fileURLToPath } from "node:url";
import {
  Application,
  Cache,
  Clock,
  ErrorMapping,
  Maintenance,
  profile,
  provide,
  SecurityHeaders,
} from "@stagecraft/framework";
import { MemoryCache } from "@stagecraft/framework/cache";
import { Languages } from "@stagecraft/framework/i18n";
import { Jobs } from "@stagecraft/framework/jobs";
import { Mailer, type MailQueue, MemoryMailer } from "@stagecraft/framework/mail";
import { mailQueue } from "@stagecraft/framework/mail/jobs";
import type { Pages } from "@stagecraft/framework/pages";
import { MemoryStorage, Storage } from "@stagecraft/framework/storage";
import { Uploads } from "@stagecraft/framework/uploads";
import { redirectToSignIn } from "@stagecraft/framework/auth";
import { account } from "./accounts/account.routes.js";
import { identities } from "./accounts/accounts.module.js";
import { ADMINS } from "./accounts/people.js";
import { PROVIDER_NAME, type ProviderPart } from "./accounts/provider/provider-part.js";
import { Visitors } from "./accounts/visitors.js";
import { INSIDE_ADDRESSES } from "./admin/insiders.js";
import { UPSTREAM_URL } from "./admin/status.controller.js";
import { API_DOCS, API_DOCS_WITH_PROVIDER } from "./api-docs.js";
import { contracts } from "./contracts.js";
import { fileDatabase, LinksDatabase } from "./database.js";
import { errorHeaders } from "./error-headers.js";
import { CLIENT_BUILD, linkPages } from "./front-end.js";
import { languages } from "./languages.js";
import { LinksModule } from "./links.module.js";
import { findMailPlace, MAIL_PLACE } from "./mail-place.js";
import { type Sessions, sessions as newSessions } from "./sessions.js";
import type { LinksSettings } from "./settings.js";

const POLICY =
  "default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; img-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export const SENDER = "links@localhost";

const PUBLIC = fileURLToPath(new URL("../../../samples/links/public", import.meta.url));

/** The parts that the settings do not name. Specs give their own. */
export interface LinksParts {
  /** A new one in memory unless set. */
  readonly database?: LinksDatabase;
  /** Shared by all instances, which then share one quota. */
  readonly cache?: Cache | undefined;
  /** Their key and their store; a new key and a store in memory unless set. */
  readonly sessions?: Sessions;
  readonly pages?: Pages;
  /** Sends the mails of the queue; they stay in memory unless set. */
  readonly mailer?: ((queue: MailQueue) => Mailer) | undefined;
  /** The sign-in at a provider. */
  readonly provider?: ProviderPart | undefined;
}

export function linksApplication(settings: LinksSettings, parts: LinksParts = {}) {
  const { corsOrigins, quota } = settings;
  const { cache, sessions = newSessions(), pages = linkPages(), provider } = parts;
  return Application.create(provider?.root ?? LinksModule)
    .provide(...bindings(settings), ...createBindings(parts), ...identities(sessions.key, cache))
    .provide(provide(PROVIDER_NAME).useValue(provider?.name ?? null), ...(provider?.bindings ?? []))
    .config(settings.config)
    .apiDocs(provider === undefined ? API_DOCS : API_DOCS_WITH_PROVIDER)
    .trustedProxies(settings.trustedProxies)
    .compression()
    .securityHeaders(securityHeaders())
    .cors({ origins: corsOrigins.length === 0 ? () => false : corsOrigins })
    .requestId()
    .traceContext()
    .accessLog()
    .metrics()
    .catchPanic()
    .errorMapping(new ErrorMapping().using(errorHeaders))
    .bodyLimit(2 * 1024 * 1024)
    .timeout(30_000, { status: 503 })
    .maintenance(
      new Maintenance().allow("/admin").allow("/account").allow("/build").allow("/favicon.svg").allow("/language"),
    )
    .rateLimit(cache === undefined ? quota : quota.redis(cache))
    .session(sessions.config, sessions.store)
    .csrf(sessions.csrf)
    .pages(pages)
    .pageContracts(contracts)
    .layer(redirectToSignIn(account.signIn, { confirm: account.again }), Visitors)
    .devProxy()
    .staticFiles({ root: PUBLIC, buildDirectory: CLIENT_BUILD });
}

/** The settings of the operator, as injectable values. */
function bindings({ admins, insiders, smtpUrl, upstreamUrl, worksHere }: LinksSettings) {
  return [
    provide(ADMINS).useValue(admins),
    provide(MAIL_PLACE).useValue(findMailPlace(smtpUrl)),
    provide(INSIDE_ADDRESSES).useValue(insiders),
    provide(UPSTREAM_URL).useValue(upstreamUrl),
    provide(Jobs).useFactory(() => new Jobs({ inWebProcess: worksHere })),
  ];
}

function createBindings({ database = fileDatabase(), cache, mailer = inMemory }: LinksParts) {
  return [
    provide(LinksDatabase).useValue(database),
    provide(Mailer).useFactory((resolve) => mailer(mailQueue(resolve(Jobs)))),
    provide(Cache).useFactory((resolve) => cache ?? new MemoryCache({ clock: resolve(Clock) })),
    provide(Storage).useValue(new MemoryStorage()),
    provide(Uploads).useValue(new Uploads()),
    provide(Languages).useValue(languages),
  ];
}

function inMemory(queue: MailQueue): Mailer {
  return new MemoryMailer({ from: SENDER, queue });
}

/** Browsers remember HSTS for a year, so a developer's machine does not send it. */
function securityHeaders(): SecurityHeaders {
  const headers = new SecurityHeaders().withCspNonce(POLICY);
  return profile === "release" ? headers.withHsts() : headers;
}
