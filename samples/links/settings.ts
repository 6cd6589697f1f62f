import { AddressBlocks, AppConfig, environment, RateLimit, StartupError, variable } from "@stagecraft/framework";

/** The settings of the sample, parsed once from the environment. A malformed variable is a `StartupError` that names all of them. */
export type LinksSettings = ReturnType<typeof settingsFrom>;

export function settingsFrom(from: NodeJS.ProcessEnv) {
  const { REQUESTS_PER_HOUR: perHour, REQUESTS_PER_SECOND: perSecond, ...given } = environment(VARIABLES, from);
  return {
    /** `APP_NAME`, `APP_URL`, `APP_ENV`, `APP_PORT`. */
    config: AppConfig.fromEnv({ APP_NAME: "links", ...from }),
    admins: given.ADMINS.map((address) => address.toLowerCase()),
    sessionKey: given.SESSION_KEY,
    trustedProxies: given.TRUSTED_PROXIES,
    corsOrigins: given.CORS_ORIGINS,
    insiders: given.METRICS_ALLOW,
    upstreamUrl: given.UPSTREAM_URL,
    databaseUrl: given.DATABASE_URL,
    databaseFile: given.DATABASE_FILE,
    worksHere: given.WORKER === "here",
    redisUrl: given.REDIS_URL,
    smtpUrl: given.SMTP_URL,
    provider: toProvider(given),
    collector: given.OTLP_ENDPOINT,
    quota: perHour === undefined ? RateLimit.perSecond(perSecond).burst(2 * perSecond) : RateLimit.perHour(perHour),
  };
}

/** A provider at which people sign in. */
export type ProviderSettings = NonNullable<ReturnType<typeof toProvider>>;

/** @throws StartupError for an issuer without the id that this application has there */
function toProvider({
  OAUTH_ISSUER: issuer,
  OAUTH_CLIENT_ID: clientId,
  OAUTH_CLIENT_SECRET: clientSecret,
  OAUTH_NAME: name,
}: {
  readonly OAUTH_ISSUER: string | undefined;
  readonly OAUTH_CLIENT_ID: string | undefined;
  readonly OAUTH_CLIENT_SECRET: string | undefined;
  readonly OAUTH_NAME: string | undefined;
}) {
  if (issuer === undefined) return undefined;
  if (clientId === undefined) throw new StartupError([WITHOUT_CLIENT_ID]);
  return { issuer, clientId, clientSecret, name: name ?? new URL(issuer).host };
}

const WITHOUT_CLIENT_ID = {
  code: "LINKS_SETTING",
  what: "there is a provider to sign in at, and no id of this application there",
  where: "OAUTH_CLIENT_ID",
  fix: "set the id that the provider has given to this application",
};

const COUNT = variable.integer(1, 999_999_999);

const VARIABLES = {
  /** The addresses of administrators, who remove links and close the site. */
  ADMINS: variable.text().list(),
  /** The key of the sessions, of the links in mails and of second steps: 128 hexadecimal characters. Without it one is in a file. */
  SESSION_KEY: variable.text().secret().optional(),
  /** Proxies whose `X-Forwarded-For` is trusted. Without it every client of a proxy on this machine counts as local. */
  TRUSTED_PROXIES: variable.addresses().default(AddressBlocks.none),
  /** Origins whose pages may call the API. */
  CORS_ORIGINS: variable.origin().list(),
  /** Clients that may read the metrics. */
  METRICS_ALLOW: variable.addresses().default(AddressBlocks.loopback),
  /** The URL that `/status` requests; by default this service's own health endpoint. */
  UPSTREAM_URL: variable.url().optional(),
  /** The PostgreSQL with the data of all instances. Without it the data is in a file of SQLite. */
  DATABASE_URL: variable.serverUrl("postgres:", "postgresql:").optional(),
  DATABASE_FILE: variable.text().default("links.db"),
  /** Where jobs run: in each process that serves, or in processes of their own (`worker.ts`). */
  WORKER: variable.oneOf("here", "elsewhere").default("here"),
  /** The Redis that holds one quota for all instances. */
  REDIS_URL: variable.serverUrl("redis:", "rediss:").optional(),
  /** The mail server. Without it a debug build shows the mails at `/dev/mails`, and a release build writes them into the folder `mails`. */
  SMTP_URL: variable.text().secret().optional(),
  /** The provider of OpenID Connect at which people may sign in, and the id and the secret that this application has there. */
  OAUTH_ISSUER: variable.url().optional(),
  OAUTH_CLIENT_ID: variable.text().optional(),
  OAUTH_CLIENT_SECRET: variable.text().secret().optional(),
  /** Its name on the button, "Sign in with …"; by default its host. */
  OAUTH_NAME: variable.text().optional(),
  /** The collector for spans. */
  OTLP_ENDPOINT: variable.url().optional(),
  /** The quota of a client: by the hour, or by the second with a burst of twice as many. */
  REQUESTS_PER_HOUR: COUNT.optional(),
  REQUESTS_PER_SECOND: COUNT.default(50),
};
