/** An application that is its own issuer. */
import { Clock, provide } from "@stagecraft/framework";
import { type IssuingOptions, tokenIssuing } from "@stagecraft/framework/auth/jwt";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { AUDIENCE, buildOrders, company, ISSUER, NOW } from "./bearer-application.js";

export const KEY = "6b".repeat(64);
export const ACCESS = { scopes: ["orders:read", "orders:list"], clientId: "till" };

export function issuingOf(options: Partial<IssuingOptions> = {}) {
  return tokenIssuing(company, { issuer: ISSUER, audience: AUDIENCE, keys: KEY, ...options });
}

export function startIssuing(
  options: Partial<IssuingOptions> = {},
  clock = new FakeClock(NOW * 1000),
): Promise<TestApp> {
  return testApp(buildOrders(issuingOf(options)), provide(Clock).useValue(clock));
}
