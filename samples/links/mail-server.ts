import { mailerFromEnv } from "@stagecraft/framework/mail/smtp";

/** The mail server of the environment. */
export function mailServer(url: string, from: string) {
  return mailerFromEnv({ from }, { SMTP_URL: url });
}
