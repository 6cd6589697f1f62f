/**
 * The bytes of a message: headers (RFC 5322) and parts (RFC 2045, 2046). Text is quoted-printable, so that a person can read a stored
 * mail; attachments are base64. No line is longer than 998 bytes, and every byte is ASCII, so every server takes the message unchanged.
 *
 * Internal: a transport gets the bytes.
 */
import type { Mailbox } from "./address.js";
import type { MailFile } from "./attachment.js";
import { foldLine, formatHeader, formatPhrase } from "./header-text.js";
import { encodeQuotedPrintable } from "./quoted-printable.js";

/** The parts of a mail. */
export interface MailContent {
  /** With angle brackets. */
  readonly messageId: string;
  readonly date: Date;
  readonly from: Mailbox;
  readonly replyTo: Mailbox | undefined;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly subject: string;
  readonly text: string;
  readonly html: string | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly attachments: readonly MailFile[];
}

/** A part with its headers, each a line, and its body, without the line break that ends it. */
interface MimePart {
  readonly headers: readonly string[];
  readonly body: string;
}

export function encodeMessage(content: MailContent): Uint8Array {
  const { headers, body } = createRootPart(content);
  const lines = [...formatHeaders(content), "MIME-Version: 1.0", ...headers, "", body];
  return Buffer.from(`${lines.join("\r\n")}${body.endsWith("\r\n") ? "" : "\r\n"}`, "latin1");
}

function formatHeaders(content: MailContent): readonly string[] {
  const { date, messageId, from, replyTo, to, cc, subject, headers } = content;
  return [
    `Date: ${date.toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: ${messageId}`,
    formatAddresses("From", [from]),
    ...(replyTo === undefined ? [] : [formatAddresses("Reply-To", [replyTo])]),
    // A mail with hidden recipients only has no To header.
    ...(to.length === 0 ? [] : [formatAddresses("To", to)]),
    ...(cc.length === 0 ? [] : [formatAddresses("Cc", cc)]),
    formatHeader("Subject", subject),
    ...headers.map(([name, value]) => formatHeader(name, value)),
  ];
}

function formatAddresses(name: string, mailboxes: readonly Mailbox[]): string {
  const parts = mailboxes.flatMap((mailbox, at) => {
    const comma = at < mailboxes.length - 1 ? "," : "";
    if (mailbox.name === undefined) return [`${mailbox.address}${comma}`];
    return [...formatPhrase(mailbox.name), `<${mailbox.address}>${comma}`];
  });
  return foldLine(name, parts);
}

function createRootPart({ messageId, text, html, attachments }: MailContent): MimePart {
  // The id is random, and quoted-printable and base64 have no "=_".
  const boundary = (kind: string): string => `=_${kind}_${messageId.slice(1, messageId.indexOf("@"))}`;
  const images = attachments.filter(({ contentId }) => contentId !== undefined && html !== undefined);
  const files = attachments.filter((file) => !images.includes(file));
  let root = createTextPart("plain", text);
  if (html !== undefined) {
    const markup = createTextPart("html", html);
    const related =
      images.length === 0 ? markup : createContainer("related", boundary("r"), [markup, ...images.map(createFilePart)]);
    root = createContainer("alternative", boundary("a"), [root, related]);
  }
  return files.length === 0 ? root : createContainer("mixed", boundary("m"), [root, ...files.map(createFilePart)]);
}

function createContainer(kind: string, boundary: string, parts: readonly MimePart[]): MimePart {
  const sections = parts.map(({ headers, body }) => [`--${boundary}`, ...headers, "", body].join("\r\n"));
  return {
    headers: [`Content-Type: multipart/${kind};\r\n boundary="${boundary}"`],
    body: [...sections, `--${boundary}--`].join("\r\n"),
  };
}

function createTextPart(kind: string, text: string): MimePart {
  return {
    headers: [`Content-Type: text/${kind}; charset=utf-8`, "Content-Transfer-Encoding: quoted-printable"],
    body: encodeQuotedPrintable(text),
  };
}

function createFilePart({ name, type, contentId, content }: MailFile): MimePart {
  const disposition = contentId === undefined ? "attachment" : "inline";
  return {
    headers: [
      `Content-Type: ${type};\r\n name="${toPlainName(name)}"`,
      "Content-Transfer-Encoding: base64",
      `Content-Disposition: ${disposition};\r\n ${formatFileName(name)}`,
      ...(contentId === undefined ? [] : [`Content-ID: <${contentId}>`]),
    ],
    body: encodeBase64Lines(content),
  };
}

/** RFC 2183, and RFC 2231 for a name with other characters. */
function formatFileName(name: string): string {
  if (/^[A-Za-z0-9 ._()-]+$/.test(name)) return `filename="${name}"`;
  const encoded = encodeURIComponent(Buffer.from(name).toString());
  return `filename*=UTF-8''${encoded.replaceAll(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)}`;
}

/** For programs that do not read `filename*`: the name in ASCII, with its extension. */
function toPlainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9 ._()-]/gu, toPlainCharacter);
}

/** One character stands for 18 others, and a line has a limit. */
function toPlainCharacter(character: string): string {
  const letters = character.normalize("NFKD").replaceAll(/\p{Mark}/gu, "");
  return letters.slice(0, 3).replaceAll(/[^A-Za-z0-9 ._()-]/gu, "_");
}

function encodeBase64Lines(content: Uint8Array): string {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64");
  return text.replaceAll(/.{76}(?=.)/g, "$&\r\n");
}
