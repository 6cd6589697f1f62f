/**
 * Text in headers of a mail: the check that refuses line breaks, and the encoding (RFC 2047, RFC 5322 section 2.2.3) with lines of at
 * most 76 characters where the text has spaces.
 *
 * Internal: addresses and mails use it.
 */
import { MailContentError } from "./mail-error.js";

const LINE = 76;
/** Bytes in one encoded word: 60 characters of base64, and 12 around them. */
const WORD_BYTES = 45;
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

/** Control characters: CR, LF and NUL among them. Also the line and the paragraph separator. */
export function hasForbiddenCharacter(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- the pattern finds these characters
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text);
}

/**
 * @param where names the place in a message, for example `subject`. The message does not hold the text.
 * @throws MailContentError `E_MAIL_HEADER`
 */
export function readHeaderText(text: unknown, where: string, maxLength: number): string {
  if (typeof text !== "string") throw invalidHeader(where, "is not a text");
  if (text.length > maxLength) throw invalidHeader(where, `has more than ${maxLength} characters`);
  if (hasForbiddenCharacter(text)) throw invalidHeader(where, "has a control character, such as a line break");
  return text;
}

export function invalidHeader(where: string, fault: string): MailContentError {
  return new MailContentError("E_MAIL_HEADER", `the ${where} of a mail ${fault}`);
}

/** `name: text`, folded. The text has been checked. */
export function formatHeader(name: string, text: string): string {
  return foldLine(name, isPlain(text) || isStructured(name) ? text.split(" ") : encodeWords(text));
}

/**
 * Headers that programs parse: a list of addresses and URLs (RFC 2369, RFC 8058), message ids and single words. A program does not decode
 * an encoded word in them, and would not find the URL.
 */
export function isStructured(name: string): boolean {
  return /^(?:list-(?!id$)[\w-]+|in-reply-to|references|auto-submitted|precedence|importance|x-priority)$/i.test(name);
}

/** `name: part part`, with a line break before a part that would make the line too long. */
export function foldLine(name: string, parts: readonly string[]): string {
  let line = `${name}:`;
  let length = line.length;
  for (const part of parts) {
    const breaks = length + 1 + part.length > LINE && length > name.length + 1;
    line += `${breaks ? "\r\n" : ""} ${part}`;
    length = (breaks ? 0 : length) + 1 + part.length;
  }
  return line;
}

/** The name before an address (RFC 5322 phrase), in parts that a line break may divide. */
export function formatPhrase(name: string): readonly string[] {
  if (isPlain(name)) return [`"${name.replaceAll(/["\\]/g, "\\$&")}"`];
  return encodeWords(name);
}

/** Whether the text is visible ASCII with single spaces, and no program takes it for an encoded word. */
function isPlain(text: string): boolean {
  return PLAIN.test(text) && !text.includes("=?");
}

function encodeWords(text: string): readonly string[] {
  const words: string[] = [];
  let chunk = "";
  let bytes = 0;
  const close = (): void => {
    if (chunk !== "") words.push(`=?UTF-8?B?${Buffer.from(chunk).toString("base64")}?=`);
    chunk = "";
    bytes = 0;
  };
  // By code points: a word holds whole characters.
  for (const character of text) {
    const size = Buffer.byteLength(character);
    if (bytes + size > WORD_BYTES) close();
    chunk += character;
    bytes += size;
  }
  close();
  return words;
}
