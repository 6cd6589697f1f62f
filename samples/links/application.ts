/** The application with every stage on that a public service wants; `main.ts` runs it, the specs use it as it is. */
import { fileURLToPath } from "node:url";
import {
  AppConfig,
  Application,
  Cache,
  ErrorMapping,
  Maintenance,
  profile,
  provide,
  SecurityHeaders,
} from "@stagecraft/framework";
import { errorPage } from "./error.page.js";
import { LinksModule } from "./links.module.js";
import { settingsFrom } from "./settings.js";

const POLICY =
  "default-src 'none'; style-src 'nonce-{nonce}'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const PUBLIC = fileURLToPath(new URL("../../../samples/links/public", import.meta.url));

/** @param cache shared by all instances, which then keep one quota between them */
export function linksApplication(environment: NodeJS.ProcessEnv = process.env, cache?: Cache) {
  const settings = settingsFrom(environment);
  return Application.create(LinksModule)
    .provide(...(cache === undefined ? [] : [provide(Cache).useValue(cache)]))
    .config(AppConfig.fromEnv({ APP_NAME: "links", ...environment }))
    .trustedProxies(settings.trustedProxies)
    .compression()
    .securityHeaders(securityHeaders())
    .cors({ origins: (origin) => settings.corsOrigins.includes(origin) })
    .requestId()
    .traceContext()
    .accessLog()
    .metrics()
    .catchPanic()
    .errorMapping(new ErrorMapping().using(errorPage))
    .bodyLimit(2 * 1024 * 1024)
    .timeout(30_000)
    .maintenance(new Maintenance().allow("/admin"))
    .rateLimit(cache === undefined ? settings.quota : settings.quota.redis(cache))
    .staticFiles({ root: PUBLIC });
}

/** Browsers remember HSTS for a year, so nothing promises it from a developer's machine. */
function securityHeaders(): SecurityHeaders {
  const headers = new SecurityHeaders().withCspNonce(POLICY);
  return profile === "release" ? headers.withHsts() : headers;
}
