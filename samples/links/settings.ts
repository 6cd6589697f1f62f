import { AppConfig, RateLimit } from "@stagecraft/framework";
import { AddressBlocks } from "./admin/address-blocks.js";
import { Variables, type Rule } from "./variables.js";

/** The settings of the sample from the environment, parsed once. */
export interface LinksSettings {
  /** `APP_NAME`, `APP_URL`, `APP_ENV`, `APP_PORT`. */
  readonly config: AppConfig;
  /** The key for removing links and for maintenance: `ADMIN_KEY`. Without it there is no access. */
  readonly adminKey: string | undefined;
  /** Proxies whose `X-Forwarded-For` is trusted: `TRUSTED_PROXIES`. Without it every client of a proxy on this machine counts as local. */
  readonly trustedProxies: string;
  /** Origins whose pages may call the API: `CORS_ORIGINS`, comma-separated. */
  readonly corsOrigins: readonly string[];
  /** Addresses and CIDR blocks that may read the metrics: `METRICS_ALLOW`, comma-separated; default: this machine. */
  readonly insiders: readonly string[];
  /** The URL that `/status` requests: `UPSTREAM_URL`; default: this service's own health endpoint. */
  readonly upstreamUrl: string | undefined;
  /** The quota of a client: `REQUESTS_PER_HOUR`, or `REQUESTS_PER_SECOND` (50) with a burst of twice as many. */
  readonly quota: RateLimit;
  /** The Redis of the shared quota: `REDIS_URL`. */
  readonly redisUrl: string | undefined;
  /** The collector for spans: `OTLP_ENDPOINT`. */
  readonly collector: string | undefined;
}

/** @throws StartupError with every malformed variable */
export function settingsFrom(environment: NodeJS.ProcessEnv): LinksSettings {
  const variables = new Variables(environment);
  const settings = {
    config: AppConfig.fromEnv({ APP_NAME: "links", ...environment }),
    adminKey: variables.text("ADMIN_KEY"),
    trustedProxies: variables.text("TRUSTED_PROXIES") ?? "",
    corsOrigins: variables.list("CORS_ORIGINS", ORIGIN) ?? [],
    insiders: variables.list("METRICS_ALLOW", ADDRESS) ?? ["127.0.0.1", "::1"],
    upstreamUrl: variables.text("UPSTREAM_URL", WEB_URL),
    redisUrl: variables.text("REDIS_URL", REDIS_URL),
    collector: variables.text("OTLP_ENDPOINT", WEB_URL),
  };
  const perHour = variables.number("REQUESTS_PER_HOUR", COUNT);
  const perSecond = variables.number("REQUESTS_PER_SECOND", COUNT) ?? 50;
  variables.refuseFaults();
  const quota =
    perHour === undefined ? RateLimit.perSecond(perSecond).burst(2 * perSecond) : RateLimit.perHour(perHour);
  return { ...settings, quota };
}

const ORIGIN: Rule = {
  name: "origin",
  // Only the browser's spelling matches: a trailing slash or a capital letter would never match.
  holds: (text) => hasProtocol(text, "http:", "https:") && new URL(text).origin === text,
  fix: "write scheme, host and port as browsers send them, in lower case and without a path: https://app.example",
};

const ADDRESS: Rule = {
  name: "address or block of addresses",
  holds: AddressBlocks.isBlock,
  fix: "write an IP address or a CIDR block: 10.0.0.0/8 or fd00::/8",
};

const WEB_URL: Rule = {
  name: "URL to ask",
  holds: (text) => hasProtocol(text, "http:", "https:") && new URL(text).username + new URL(text).password === "",
  fix: "write an absolute http or https URL without credentials: http://127.0.0.1:4317",
};

const REDIS_URL: Rule = {
  name: "URL of a Redis",
  holds: (text) => hasProtocol(text, "redis:", "rediss:"),
  fix: "write redis://host:6379, or rediss:// for TLS",
};

const COUNT: Rule = {
  name: "number of requests",
  holds: (text) => /^[1-9][0-9]{0,8}$/.test(text),
  fix: "give a whole number from 1",
};

function hasProtocol(text: string, ...protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}
