import type { MailQueue } from "@stagecraft/framework/mail";
import { mailerFromEnv } from "@stagecraft/framework/mail/smtp";

/** The mail server of the environment. */
export function mailServer(url: string, from: string, queue: MailQueue) {
  return mailerFromEnv({ from, queue }, { SMTP_URL: url });
}
