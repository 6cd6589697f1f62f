/**
 * The mailer that the environment asks for: an `SmtpMailer` where `SMTP_URL` is set. Without it a debug build keeps its mails in memory,
 * for the preview page; with `MAIL_FOLDER` it writes them as files. A release build without `SMTP_URL` does not start, because its mails
 * would vanish.
 *
 * | `SMTP_URL`                         | means                    |
 * | ---------------------------------- | ------------------------ |
 * | `smtps://user:password@host:465`   | TLS from the first byte  |
 * | `smtp://user:password@host:587`    | STARTTLS, or no mail     |
 * | `smtp+plain://host:25`             | no TLS, and no login     |
 *
 * @example
 * provide(Mailer).useFactory(() => mailerFromEnv({ from: "shop@example.org" }));
 */
import type { FrameworkError } from "../../errors/framework-error.js";
import { createSetupError } from "../../errors/setup-error.js";
import { type Profile, profile } from "../../runtime/profile.js";
import { FileMailer } from "../file-mailer.js";
import type { Mailer, MailerOptions } from "../mailer.js";
import { MemoryMailer } from "../memory-mailer.js";
import { SmtpMailer } from "./smtp-mailer.js";
import type { SmtpMailerOptions, SmtpSecurity } from "./smtp-options.js";

const SECURITY: Readonly<Record<string, SmtpSecurity>> = {
  "smtps:": "tls",
  "smtp:": "starttls",
  "smtp+plain:": "plain",
};

/**
 * @param env the environment of the process, read at the call
 * @throws FrameworkError `E_MAIL_URL` for a URL of another form, without the URL; `E_MAIL_UNCONFIGURED` in a release build without one
 */
export function mailerFromEnv(
  options: MailerOptions = {},
  env: Readonly<Record<string, string | undefined>> = process.env,
  build: Profile = profile,
): Mailer {
  const url = env["SMTP_URL"];
  if (url !== undefined && url !== "") return new SmtpMailer({ ...options, ...parseSmtpUrl(url) });
  const folder = env["MAIL_FOLDER"];
  if (folder !== undefined && folder !== "") return new FileMailer({ ...options, folder });
  if (build === "debug") return new MemoryMailer(options);
  throw createSetupError(
    "E_MAIL_UNCONFIGURED",
    "a release build sends its mails: set SMTP_URL, for example smtps://user:password@host:465",
  );
}

/** @throws FrameworkError `E_MAIL_URL` */
function parseSmtpUrl(text: string): SmtpMailerOptions {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const security = SECURITY[url?.protocol ?? ""];
  if (
    url === undefined ||
    security === undefined ||
    url.hostname === "" ||
    /[^/]/.test(url.pathname + url.search + url.hash)
  )
    throw wrongUrl();
  const [user, password] = [decodePart(url.username), decodePart(url.password)];
  return {
    host: url.hostname.replaceAll(/^\[|\]$/g, ""),
    security,
    ...(url.port === "" ? {} : { port: Number(url.port) }),
    ...(user === "" && password === "" ? {} : { user, password }),
  };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw wrongUrl();
  }
}

function wrongUrl(): FrameworkError {
  return createSetupError(
    "E_MAIL_URL",
    "SMTP_URL has the form smtps://user:password@host:port, smtp://… or smtp+plain://host:port",
  );
}
