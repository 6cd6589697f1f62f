import { RateLimit, StartupError } from "@stagecraft/framework";

/** What the sample reads from the environment, in one place and parsed once. */
export interface LinksSettings {
  /** Proxies whose `X-Forwarded-For` is believed: `TRUSTED_PROXIES`. Without it a proxy on this machine makes every client local. */
  readonly trustedProxies: string;
  /** Origins whose pages may call the API: `CORS_ORIGINS`, comma-separated. */
  readonly corsOrigins: readonly string[];
  /** What a client may ask: `REQUESTS_PER_HOUR`, else `REQUESTS_PER_SECOND` (50) with twice as many at once. */
  readonly quota: RateLimit;
}

export function settingsFrom(environment: NodeJS.ProcessEnv): LinksSettings {
  const trustedProxies = environment["TRUSTED_PROXIES"] ?? "";
  return { trustedProxies, corsOrigins: listOf(environment["CORS_ORIGINS"]), quota: quotaFrom(environment) };
}

function quotaFrom(environment: NodeJS.ProcessEnv): RateLimit {
  const perHour = countFrom(environment, "REQUESTS_PER_HOUR");
  if (perHour !== undefined) return RateLimit.perHour(perHour);
  const perSecond = countFrom(environment, "REQUESTS_PER_SECOND") ?? 50;
  return RateLimit.perSecond(perSecond).burst(2 * perSecond);
}

/** A blank variable is one that nobody set. */
function countFrom(environment: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = environment[name]?.trim() ?? "";
  if (text === "") return undefined;
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  const what = `"${text}" is no number of requests`;
  throw new StartupError([{ code: "LINKS_SETTING", what, where: name, cure: "give a whole number from 1" }]);
}

/** A comma-separated list without its blanks. */
export function listOf(text = ""): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
