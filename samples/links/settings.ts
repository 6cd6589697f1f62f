import { AppConfig, RateLimit } from "@stagecraft/framework";
import { AddressBlocks } from "./admin/address-blocks.js";
import { Variables, type Rule } from "./variables.js";

/** What the sample reads from the environment, in one place and parsed once. */
export interface LinksSettings {
  /** `APP_NAME`, `APP_URL`, `APP_ENV`, `APP_PORT`. */
  readonly config: AppConfig;
  /** Who holds it may remove links and close the shop: `ADMIN_KEY`. Without one nobody may. */
  readonly adminKey: string | undefined;
  /** Proxies whose `X-Forwarded-For` is believed: `TRUSTED_PROXIES`. Without it a proxy on this machine makes every client local. */
  readonly trustedProxies: string;
  /** Origins whose pages may call the API: `CORS_ORIGINS`, comma-separated. */
  readonly corsOrigins: readonly string[];
  /** Addresses and CIDR blocks that may see the metrics: `METRICS_ALLOW`, comma-separated, else this machine alone. */
  readonly insiders: readonly string[];
  /** What `/status` asks: `UPSTREAM_URL`, else this service's own health endpoint. */
  readonly upstreamUrl: string | undefined;
  /** What a client may ask: `REQUESTS_PER_HOUR`, else `REQUESTS_PER_SECOND` (50) with twice as many at once. */
  readonly quota: RateLimit;
  /** The quota is one for all instances that name the same Redis: `REDIS_URL`. */
  readonly redisUrl: string | undefined;
  /** The collector that spans are sent to: `OTLP_ENDPOINT`. */
  readonly collector: string | undefined;
}

/** @throws StartupError with everything that is mistyped */
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
  // A browser's spelling and no other: what differs from it by a slash or a capital would never match.
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
