/**
 * The port of the notices to the owner of an account whose credentials have changed (OWASP ASVS 5 section 6.3.7). `authentication()` binds
 * one that sends mails where it has `links`, and `NoCredentialNotices` otherwise, because an application without links may have no mailer.
 */
import { PROVIDED_BY } from "../di/provided-by.js";

import type { Exchange } from "../http/request/exchange.js";

/** The tag of the language of the person who causes a mail. The mail is written by a job, which has no request. */
export function findLanguageTag(ctx: Exchange): string | undefined {
  return ctx.problemTranslator?.getLanguageTag(ctx);
}

/** For `AuthMails.credentialsChanged`. A later version may add one. */
export type CredentialChange =
  | "password"
  | "email"
  | "totp-added"
  | "totp-removed"
  | "recovery-codes-renewed"
  | "recovery-code-used"
  | "passkey-added"
  | "passkey-removed"
  | "provider-linked"
  | "provider-unlinked"
  | "api-token-created";

export abstract class CredentialNotices {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys })";
  /**
   * Inside of the transaction of the change: the notice is sent if the change takes effect.
   *
   * @param email for a change of the address the one until now
   * @param language the tag of the language of the request, if the application has languages
   */
  abstract send(email: string, change: CredentialChange, language?: string): Promise<void>;
}

export class NoCredentialNotices extends CredentialNotices {
  override send(): Promise<void> {
    return Promise.resolve();
  }
}
