/**
 * The errors of mail. None of them holds an address, a subject, a part of the content or the reply of a server, so a log line may show
 * them.
 *
 * @example
 * try {
 *   await mailer.send(new Welcome({ name }).to(user.email));
 * } catch (error) {
 *   if (!(error instanceof MailRefusedError)) throw error;
 *   await this.users.markUndeliverable(user.id);
 * }
 */
import { FrameworkError, UnavailableError } from "../errors/framework-error.js";
import type { MailResult } from "./mail-result.js";

/** The codes of `MailContentError`. */
export type MailContentCode = "E_MAIL_ADDRESS" | "E_MAIL_HEADER" | "E_MAIL_SIZE" | "E_MAIL_HTML" | "E_MAIL_ATTACHMENT";

/** 422: an address, a header or a part of the mail is not valid, or too large. The transport has not seen it. */
export class MailContentError extends FrameworkError {
  constructor(code: MailContentCode, detail: string) {
    super(detail, { code, status: 422 });
  }
}

/** The mail server permanently refused the mail for every recipient. `result` has the recipients and the codes. */
export class MailRefusedError extends FrameworkError {
  /** Not enumerable, so that no log shows the addresses. */
  declare readonly result: MailResult;

  constructor(detail: string, result: MailResult) {
    super(detail, { code: "E_MAIL_REFUSED" });
    Object.defineProperty(this, "result", { value: result });
  }
}

/** 503: no recipient has got the mail, and the same mail may be sent again later. */
export class MailUnavailableError extends UnavailableError {
  constructor(detail: string, code: "E_MAIL_UNAVAILABLE" | "E_MAIL_TIMEOUT" = "E_MAIL_UNAVAILABLE") {
    super(detail, { code });
  }
}
