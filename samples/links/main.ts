import { installLogging } from "@stagecraft/framework/observe";
import { linksApplication, SENDER } from "./application.js";
import { Overview } from "./overview/overview.js";
import { sessionsFrom } from "./sessions.js";
import { settingsFrom } from "./settings.js";

const settings = settingsFrom(process.env);
const telemetry = await telemetryTo(settings.collector);
const cache = await cacheAt(settings.redisUrl);
const sessions = await sessionsFrom(settings.sessionKey, cache);

installLogging("info,links=debug", ...telemetry.layers);
const application = linksApplication(settings, cache, sessions, undefined, await mailerAt(settings.smtpUrl))
  .provide(...telemetry.bindings)
  .build();
application.resolve(Overview).stages = application.pipeline();
await application.run();

/** Sends spans to the collector of the environment; without one, no OpenTelemetry package is loaded. */
async function telemetryTo(endpoint: string | undefined) {
  if (endpoint === undefined) return { layers: [], bindings: [] };
  const { collectSpans } = await import("./telemetry.js");
  return collectSpans(endpoint);
}

/** Sends mails where the environment sets a mail server; otherwise they stay in memory, and no client is loaded. */
async function mailerAt(url: string | undefined) {
  if (url === undefined) return undefined;
  const { mailServer } = await import("./mail-server.js");
  return mailServer(url, SENDER);
}

/** One quota for all instances where the environment sets a Redis; otherwise one for each instance, and no driver is loaded. */
async function cacheAt(url: string | undefined) {
  if (url === undefined) return undefined;
  const { sharedCache } = await import("./shared-cache.js");
  return sharedCache(url);
}
