/** The result of sending a mail: for each recipient, whether the transport accepted the mail, refused it, or did not say. */

/** A recipient whose mail was refused. */
export interface RefusedRecipient {
  readonly address: string;
  /** The code of the reply (RFC 5321 section 4.2), for example 550; 0 if the server received no mail. */
  readonly status: number;
  /** The mail may be sent to this recipient again later. A code of 500 or above is never temporary. */
  readonly isTemporary: boolean;
}

/**
 * The addresses of To, Cc and Bcc, each in exactly one list. `accepted` means that the server has accepted the mail, not that the mail has
 * arrived.
 */
export interface MailResult {
  /** With angle brackets, as in the header. The same for every attempt with the same mail. */
  readonly messageId: string;
  readonly accepted: readonly string[];
  readonly rejected: readonly RefusedRecipient[];
  /** The connection ended after the content was sent and before the server replied. Another attempt may deliver the mail twice. */
  readonly unknown: readonly string[];
}

export function toAcceptedResult(messageId: string, recipients: readonly string[]): MailResult {
  return Object.freeze({ messageId, accepted: Object.freeze([...recipients]), rejected: [], unknown: [] });
}
