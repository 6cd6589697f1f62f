/** The application with the services that the environment names: database, cache, mail server, collector. */
import { installLogging } from "@stagecraft/framework/observe";
import { profile } from "@stagecraft/framework";
import { FileMailer, type MailQueue } from "@stagecraft/framework/mail";
import { linksApplication, SENDER } from "./application.js";
import { openDatabase } from "./database.js";
import { MAIL_FOLDER } from "./mail-place.js";
import { sessionsFrom } from "./sessions.js";
import { type ProviderSettings, settingsFrom } from "./settings.js";

export async function assembled(from: NodeJS.ProcessEnv) {
  const settings = settingsFrom(from);
  const telemetry = await telemetryTo(settings.collector);
  const database = await openDatabase(settings.databaseUrl, settings.databaseFile);
  const cache = await cacheAt(settings.redisUrl);
  const sessions = await sessionsFrom(settings, database, cache);
  const mailer = await mailerAt(settings.smtpUrl);
  const provider = await providerFrom(settings.provider);

  installLogging("info,links=debug", ...telemetry.layers);
  return linksApplication(settings, { database, cache, sessions, mailer, provider }).provide(...telemetry.bindings);
}

/** Sends spans to the collector of the environment; without one, no OpenTelemetry package is loaded. */
async function telemetryTo(endpoint: string | undefined) {
  if (endpoint === undefined) return { layers: [], bindings: [] };
  const { collectSpans } = await import("./telemetry.js");
  return collectSpans(endpoint);
}

/** Sends mails where the environment sets a mail server; otherwise no client is loaded, and a person finds them at `findMailPlace`. */
async function mailerAt(url: string | undefined) {
  if (url === undefined && profile === "debug") return undefined;
  if (url === undefined) return (queue: MailQueue) => new FileMailer({ folder: MAIL_FOLDER, from: SENDER, queue });
  const { mailServer } = await import("./mail-server.js");
  return (queue: MailQueue) => mailServer(url, SENDER, queue);
}

/** People sign in at a provider too where the environment names one; otherwise none of its code is loaded. */
async function providerFrom(settings: ProviderSettings | undefined) {
  if (settings === undefined) return undefined;
  const { providerPart } = await import("./accounts/provider/provider.module.js");
  return providerPart(settings);
}

/** One quota for all instances where the environment sets a Redis; otherwise one for each instance, and no driver is loaded. */
async function cacheAt(url: string | undefined) {
  if (url === undefined) return undefined;
  const { sharedCache } = await import("./shared-cache.js");
  return sharedCache(url);
}
