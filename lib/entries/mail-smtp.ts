/**
 * The entry point `@stagecraft/framework/mail/smtp`: the mailer over a mail server. Needs the package `nodemailer`. If it is missing, the
 * import throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { mailerFromEnv } from "../mail/smtp/mailer-from-env.js";
export { SmtpMailer } from "../mail/smtp/smtp-mailer.js";
export type { SmtpMailerOptions, SmtpSecurity, SmtpTls } from "../mail/smtp/smtp-options.js";
