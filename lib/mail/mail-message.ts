/**
 * A mail as it is sent: checked, with all its parts, and as the bytes of a message (RFC 5322). A transport gets only this value.
 *
 * Internal: `Mailer` creates it.
 */
import { getDomain, type Mailbox } from "./address.js";
import { readAttachments, type MailStorage } from "./attachment.js";
import { invalidHeader, isStructured, readHeaderText } from "./header-text.js";
import { MailHtml } from "./html.js";
import { MailContentError } from "./mail-error.js";
import { MAX_BODY_BYTES, MAX_HEADERS, MAX_HEADER_VALUE, MAX_SUBJECT } from "./mail-limits.js";
import { getMailName, type Mail, type OutgoingMail } from "./mail.js";
import { encodeMessage, type MailContent } from "./mime.js";

/** A mail for a transport: the addresses of the envelope, and the bytes. */
export interface MailMessage extends MailContent {
  /** The name of the class. */
  readonly name: string;
  /** The addresses of To, Cc and Bcc, each once. Bcc is in no header. */
  readonly recipients: readonly string[];
  readonly bytes: Uint8Array;
}

export interface MessageOptions {
  readonly from: Mailbox;
  readonly maxBytes: number;
  readonly storage: MailStorage | undefined;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** @throws MailContentError; the errors that the methods of the mail throw */
export async function createMessage(outgoing: OutgoingMail, options: MessageOptions): Promise<MailMessage> {
  const content = await createContent(outgoing, options);
  return Object.freeze({
    ...content,
    name: getMailName(outgoing.mail),
    recipients: outgoing.recipients,
    bytes: encodeMessage(content),
  });
}

async function createContent(
  outgoing: OutgoingMail,
  { from, maxBytes, storage, now, signal }: MessageOptions,
): Promise<MailContent> {
  const { mail, to, cc, replyTo, queued } = outgoing;
  const headers = readHeaders(mail.headers?.() ?? {});
  const subject = readHeaderText(await mail.subject(), "subject", MAX_SUBJECT);
  const text = readBody(await mail.text(), "text");
  const html = await readHtml(mail);
  const room = maxBytes - Buffer.byteLength(text) - Buffer.byteLength(html ?? "");
  if (room < 0) throw new MailContentError("E_MAIL_SIZE", `text and HTML of a mail have more than ${maxBytes} bytes`);
  const attachments = await readAttachments((await mail.attachments?.()) ?? [], storage, room, signal);
  const messageId = `<${outgoing.id}@${getDomain(from)}>`;
  return {
    messageId,
    date: new Date(queued.date ?? now),
    from,
    replyTo,
    to,
    cc,
    subject,
    text,
    html,
    headers,
    attachments,
  };
}

async function readHtml(mail: Mail<unknown>): Promise<string | undefined> {
  if (mail.html === undefined) return undefined;
  const markup: unknown = await mail.html();
  if (!(markup instanceof MailHtml))
    throw new MailContentError(
      "E_MAIL_HTML",
      "html() of a mail returns a plain text: write html`…`, which escapes values",
    );
  return readBody(markup.toString(), "HTML");
}

function readBody(text: unknown, part: string): string {
  if (typeof text !== "string") throw new MailContentError("E_MAIL_SIZE", `the ${part} of a mail is not a text`);
  if (Buffer.byteLength(text) <= MAX_BODY_BYTES) return text;
  throw new MailContentError("E_MAIL_SIZE", `the ${part} of a mail has more than ${MAX_BODY_BYTES} bytes`);
}

/** The mailer writes these headers itself, or they belong to servers on the way. */
const RESERVED =
  /^(?:from|to|cc|bcc|subject|date|message-id|reply-to|sender|return-path|received|mime-version|content-.*|dkim-signature|resent-.*)$/i;

function readHeaders(given: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  const headers = Object.entries(given);
  if (headers.length > MAX_HEADERS) throw invalidHeader("headers", `are more than ${MAX_HEADERS}`);
  return headers.map(([name, value]) => {
    // The name comes from the code of the application, but may contain data.
    if (!/^[A-Za-z][A-Za-z0-9-]{0,62}$/.test(name))
      throw invalidHeader("name of a header", "has other characters than letters, digits and hyphens");
    if (RESERVED.test(name)) throw invalidHeader(`header ${name}`, "is written by the mailer itself");
    const text = readHeaderText(value, `header ${name}`, MAX_HEADER_VALUE);
    if (isStructured(name) && !/^[ -~]*$/.test(text))
      throw invalidHeader(`header ${name}`, "is not ASCII: write a URL as new URL(…).href gives it");
    return [name, text];
  });
}
