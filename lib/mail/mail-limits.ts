/** The bounds of a mail. A mail beyond one of them is refused before the transport sees it. */

/** To, Cc and Bcc together. Many servers refuse more (RFC 5321 section 4.5.3.1.8). */
export const MAX_RECIPIENTS = 100;
export const MAX_SUBJECT = 500;
export const MAX_HEADERS = 30;
/** The longest header that a mail adds, in bytes. A line of a mail has at most 998 (RFC 5322 section 2.1.1). */
export const MAX_HEADER_VALUE = 900;
/** The maximum number of bytes of the text, and of the HTML. */
export const MAX_BODY_BYTES = 1_048_576;
/** The maximum number of bytes of text, HTML and attachments together. */
export const DEFAULT_MAX_BYTES = 10_485_760;

const TYPE = /^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,62}\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,62}$/;

/** Whether `text` is a media type without parameters (RFC 6838 section 4.2), and no container for other parts. */
export function isMailType(text: unknown): text is string {
  return typeof text === "string" && TYPE.test(text) && !/^(?:multipart|message)\//i.test(text);
}
