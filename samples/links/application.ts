/** The application with the stages of a public service; `main.ts` runs it, the specs use it unchanged. */
import { fileURLToPath } from "node:url";
import {
  Application,
  Cache,
  ErrorMapping,
  Maintenance,
  profile,
  provide,
  SecurityHeaders,
} from "@stagecraft/framework";
import { MemoryCache } from "@stagecraft/framework/cache";
import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import type { Pages } from "@stagecraft/framework/pages";
import { MemoryStorage, Storage } from "@stagecraft/framework/storage";
import { Uploads } from "@stagecraft/framework/uploads";
import { ADMIN_KEY } from "./accounts/accounts.js";
import { INSIDE_ADDRESSES } from "./admin/insiders.js";
import { UPSTREAM_URL } from "./admin/status.controller.js";
import { contracts } from "./contracts.js";
import { errorHeaders } from "./error-headers.js";
import { CLIENT_BUILD, linkPages } from "./front-end.js";
import { LinksModule } from "./links.module.js";
import { type Sessions, sessions as newSessions } from "./sessions.js";
import type { LinksSettings } from "./settings.js";

const POLICY =
  "default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; img-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export const SENDER = "links@localhost";

const PUBLIC = fileURLToPath(new URL("../../../samples/links/public", import.meta.url));

/**
 * @param cache shared by all instances, which then share one quota
 * @param sessions their key and their store; without them a new key, and a store in memory
 */
export function linksApplication(
  settings: LinksSettings,
  cache?: Cache,
  sessions: Sessions = newSessions(),
  pages: Pages = linkPages(),
  mailer: Mailer = new MemoryMailer({ from: SENDER }),
) {
  const { corsOrigins, quota } = settings;
  return Application.create(LinksModule)
    .provide(...bindings(settings, cache), provide(Mailer).useValue(mailer))
    .config(settings.config)
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
    .timeout(30_000)
    .maintenance(new Maintenance().allow("/admin").allow("/build").allow("/favicon.svg"))
    .rateLimit(cache === undefined ? quota : quota.redis(cache))
    .session(sessions.config, sessions.store)
    .csrf(sessions.csrf)
    .pages(pages)
    .pageContracts(contracts)
    .devProxy()
    .staticFiles({ root: PUBLIC, buildDirectory: CLIENT_BUILD });
}

/** The settings of the operator, as injectable values. */
function bindings({ adminKey, insiders, upstreamUrl }: LinksSettings, cache: Cache | undefined) {
  return [
    provide(ADMIN_KEY).useValue(adminKey),
    provide(INSIDE_ADDRESSES).useValue(insiders),
    provide(UPSTREAM_URL).useValue(upstreamUrl),
    provide(Cache).useValue(cache ?? new MemoryCache()),
    provide(Storage).useValue(new MemoryStorage()),
    provide(Uploads).useValue(new Uploads()),
  ];
}

/** Browsers remember HSTS for a year, so a developer's machine does not send it. */
function securityHeaders(): SecurityHeaders {
  const headers = new SecurityHeaders().withCspNonce(POLICY);
  return profile === "release" ? headers.withHsts() : headers;
}
