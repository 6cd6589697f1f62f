import { RateLimit } from "@stagecraft/framework";

/** What the sample reads from the environment, in one place and parsed once. */
export interface LinksSettings {
  /** Proxies whose `X-Forwarded-For` is believed: `TRUSTED_PROXIES`. Without it a proxy on this machine makes every client local. */
  readonly trustedProxies: string;
  /** Origins whose pages may call the API: `CORS_ORIGINS`, comma-separated. */
  readonly corsOrigins: readonly string[];
  /** What a client may ask: `REQUESTS_PER_HOUR`, else `REQUESTS_PER_SECOND` with twice as many at once. */
  readonly quota: RateLimit;
}

export function settingsFrom(environment: NodeJS.ProcessEnv): LinksSettings {
  const trustedProxies = environment["TRUSTED_PROXIES"] ?? "";
  return { trustedProxies, corsOrigins: listOf(environment["CORS_ORIGINS"]), quota: quotaFrom(environment) };
}

function quotaFrom(environment: NodeJS.ProcessEnv): RateLimit {
  const perHour = environment["REQUESTS_PER_HOUR"];
  if (perHour !== undefined) return RateLimit.perHour(Number(perHour));
  const perSecond = Number(environment["REQUESTS_PER_SECOND"] ?? 50);
  return RateLimit.perSecond(perSecond).burst(2 * perSecond);
}

/** A comma-separated list without its blanks. */
export function listOf(text = ""): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
