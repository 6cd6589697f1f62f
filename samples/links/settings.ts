/** What the sample reads from the environment, in one place and parsed once. */
export interface LinksSettings {
  /** Proxies whose `X-Forwarded-For` is believed: `TRUSTED_PROXIES`. Without it a proxy on this machine makes every client local. */
  readonly trustedProxies: string;
  /** Origins whose pages may call the API: `CORS_ORIGINS`, comma-separated. */
  readonly corsOrigins: readonly string[];
  /** Requests a second and client, with twice as many at once: `REQUESTS_PER_SECOND`. */
  readonly requestsPerSecond: number;
}

export function settingsFrom(environment: NodeJS.ProcessEnv): LinksSettings {
  const requestsPerSecond = Number(environment["REQUESTS_PER_SECOND"] ?? 50);
  const trustedProxies = environment["TRUSTED_PROXIES"] ?? "";
  return { trustedProxies, corsOrigins: listOf(environment["CORS_ORIGINS"]), requestsPerSecond };
}

/** A comma-separated list without its blanks. */
export function listOf(text = ""): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
