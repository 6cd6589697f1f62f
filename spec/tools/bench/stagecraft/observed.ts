/** The scenarios with a log, apart so that no other scenario loads it. */

import { Application, SecurityHeaders, RateLimit } from "@stagecraft/framework";
import { installLogging } from "@stagecraft/framework/observe";
import { BODY_LIMIT, CSP, ORIGIN, QUOTA, TIMEOUT_MS } from "../fixtures.js";
import { LinksModule } from "./modules.js";

/** Lines go to standard error, which the benchmark keeps in a file. */
export function observed() {
  installLogging("info");
  return Application.create(LinksModule).requestId().traceContext().accessLog().metrics();
}

/** Every stage that a public service wants, with the values that the peers are given. */
export function production() {
  return observed()
    .compression()
    .securityHeaders(new SecurityHeaders().withCspNonce(CSP))
    .cors({ origins: [ORIGIN] })
    .catchPanic()
    .errorMapping()
    .bodyLimit(BODY_LIMIT)
    .timeout(TIMEOUT_MS)
    .rateLimit(RateLimit.perMinute(QUOTA));
}
