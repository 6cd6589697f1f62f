/** The application with the stages of a public API; `main.ts` runs it, the specs use it unchanged. */
import { Application, provide, RateLimit, SecurityHeaders } from "@stagecraft/framework";
import { API_DOCS } from "./api-docs.js";
import { ConduitModule } from "./conduit.module.js";
import { ConduitDatabase } from "./database.js";
import { errorFormat } from "./errors.js";
import type { Settings } from "./settings.js";
import { conduitTokens } from "./users/viewer.js";

const REQUESTS_PER_SECOND = 200;

export function conduitApplication({ config, tokenKeys, origins }: Settings, database: ConduitDatabase) {
  return Application.create(ConduitModule)
    .provide(provide(ConduitDatabase).useValue(database), ...conduitTokens(tokenKeys))
    .config(config)
    .apiDocs(API_DOCS)
    .compression()
    .securityHeaders(new SecurityHeaders())
    .cors({ origins: origins.length === 0 ? () => false : origins })
    .requestId()
    .traceContext()
    .accessLog()
    .metrics()
    .catchPanic()
    .errorMapping(errorFormat)
    .bodyLimit(256 * 1024)
    .timeout(10_000, { status: 503 })
    .rateLimit(RateLimit.perSecond(REQUESTS_PER_SECOND).burst(2 * REQUESTS_PER_SECOND));
}
