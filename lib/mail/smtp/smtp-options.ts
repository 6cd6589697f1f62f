/**
 * The options of a mail server, and their check. Neither an error nor a log line holds the password or the URL.
 *
 * Internal: `SmtpMailer` reads them.
 */
import type { FrameworkError } from "../../errors/framework-error.js";
import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import { createSetupError } from "../../errors/setup-error.js";
import { MAX_TIMER_MS } from "../../runtime/clock.js";
import { hasForbiddenCharacter } from "../header-text.js";
import { checkMailOption, MAILER_OPTIONS, type MailerOptions } from "../mailer.js";

/**
 * `tls`: TLS from the first byte (RFC 8314). `starttls`: the connection becomes TLS before any other data is sent, or it fails. `plain`: no
 * TLS, for a server on the same machine; then there is no login.
 */
export type SmtpSecurity = "tls" | "starttls" | "plain";

/** Options of Node's TLS. The certificate of the server is always checked. */
export interface SmtpTls {
  /** The certificates that are trusted instead of those of Node. */
  readonly ca?: string | Uint8Array;
  /** The name in the certificate; `host` unless set. */
  readonly servername?: string;
  /** The certificate of this client, and its key. */
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
}

export interface SmtpMailerOptions extends MailerOptions {
  readonly host: string;
  /** 465 for `tls`, 587 for `starttls` and 25 for `plain` unless set. */
  readonly port?: number;
  /** `tls` unless set. */
  readonly security?: SmtpSecurity;
  readonly user?: string;
  readonly password?: string;
  readonly tls?: SmtpTls;
  /** The maximum number of connections at a time; 5 unless set. */
  readonly maxConnections?: number;
  /** The number of mails after which a connection ends; 100 unless set. */
  readonly maxMailsPerConnection?: number;
  /** The milliseconds after which an unused connection ends; 10 000 unless set. */
  readonly idleMs?: number;
  /** The maximum number of attempts with a mail while its time lasts; 3 unless set. A reply of 500 or above ends the attempts. */
  readonly attempts?: number;
  /** The time until a connection is ready, login included; 10 000 unless set. */
  readonly connectTimeoutMs?: number;
  /** The name of this client for the server (EHLO); the name of the machine unless set. */
  readonly clientName?: string;
}

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly security: SmtpSecurity;
  readonly login: { readonly user: string; readonly password: string } | undefined;
  readonly tls: SmtpTls;
  readonly maxConnections: number;
  readonly maxMailsPerConnection: number;
  readonly idleMs: number;
  readonly attempts: number;
  readonly connectTimeoutMs: number;
  readonly clientName: string | undefined;
}

const NAMES: OptionNames<SmtpMailerOptions> = {
  ...MAILER_OPTIONS,
  host: true,
  port: true,
  security: true,
  user: true,
  password: true,
  tls: true,
  maxConnections: true,
  maxMailsPerConnection: true,
  idleMs: true,
  attempts: true,
  connectTimeoutMs: true,
  clientName: true,
};
const TLS_NAMES: OptionNames<SmtpTls> = { ca: true, servername: true, cert: true, key: true };
const PORTS: Readonly<Record<SmtpSecurity, number>> = { tls: 465, starttls: 587, plain: 25 };
const HOST = /^[A-Za-z0-9._:-]{1,253}$/;

/** @throws FrameworkError `E_OPTION`, `E_MAIL_OPTION` */
export function readSmtpOptions(options: SmtpMailerOptions): SmtpSettings {
  checkOptionNames(options, NAMES, "new SmtpMailer");
  checkOptionNames(options.tls, TLS_NAMES, "new SmtpMailer({ tls })");
  const { host, security = "tls", clientName } = options;
  if (typeof host !== "string" || !HOST.test(host))
    throw wrongOption("host is the name or the address of the mail server");
  if (!Object.hasOwn(PORTS, security)) throw wrongOption('security is "tls", "starttls" or "plain"');
  if (clientName !== undefined && !HOST.test(clientName)) throw wrongOption("clientName is the name of a host");
  return {
    host,
    security,
    clientName,
    port: checkMailOption("port", options.port ?? PORTS[security], 65_535),
    login: readLogin(options, security),
    tls: options.tls ?? {},
    maxConnections: checkMailOption("maxConnections", options.maxConnections ?? 5, 1000),
    maxMailsPerConnection: checkMailOption("maxMailsPerConnection", options.maxMailsPerConnection ?? 100, 1_000_000),
    idleMs: checkMailOption("idleMs", options.idleMs ?? 10_000, MAX_TIMER_MS),
    attempts: checkMailOption("attempts", options.attempts ?? 3, 100),
    connectTimeoutMs: checkMailOption("connectTimeoutMs", options.connectTimeoutMs ?? 10_000, MAX_TIMER_MS),
  };
}

function readLogin({ user, password }: SmtpMailerOptions, security: SmtpSecurity): SmtpSettings["login"] {
  if (user === undefined && password === undefined) return undefined;
  if (typeof user !== "string" || typeof password !== "string" || user === "" || password === "")
    throw wrongOption("user and password are given together");
  if (hasForbiddenCharacter(user) || hasForbiddenCharacter(password))
    throw wrongOption("user and password have no control characters");
  if (security === "plain")
    throw wrongOption('a password is not sent without TLS: set security to "starttls" or "tls"');
  return { user, password };
}

function wrongOption(rule: string): FrameworkError {
  return createSetupError("E_MAIL_OPTION", `the options of a mail server are wrong: ${rule}`);
}
