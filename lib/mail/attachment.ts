/**
 * Attachments: bytes, a stream of bytes, or a key of the application's storage. Never a path and never a URL, so no value of a user can
 * make the mailer read a file or fetch a page.
 *
 * @example
 * attachments() {
 *   return [{ name: "invoice.pdf", type: "application/pdf", content: pdfOf(this.data) }];
 * }
 */
import { isMailType } from "./mail-limits.js";
import { hasForbiddenCharacter } from "./header-text.js";
import { MailContentError } from "./mail-error.js";

interface AttachmentName {
  /** The name of the file for the reader; at most 200 bytes, without `/` and `\`. */
  readonly name: string;
  /** The media type without parameters; `application/octet-stream` unless set. */
  readonly type?: string;
  /** Makes it an image inside the HTML, which shows it with `src="cid:…"`. Letters, digits, `-`, `_`, `.` and `@`. */
  readonly contentId?: string;
}

export interface ContentAttachment extends AttachmentName {
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
}

export interface StoredAttachment extends AttachmentName {
  /** A key in the option `storage` of the mailer. */
  readonly storageKey: string;
}

export type MailAttachment = ContentAttachment | StoredAttachment;

/** The part of `Storage` that a mailer needs. */
export interface MailStorage {
  get(key: string, options: { readonly signal: AbortSignal }): Promise<{ readonly body: AsyncIterable<Uint8Array> }>;
}

/** An attachment with its bytes. */
export interface MailFile {
  readonly name: string;
  readonly type: string;
  readonly contentId: string | undefined;
  readonly content: Uint8Array;
}

const MAX_FILES = 50;
const MAX_NAME_BYTES = 200;

/**
 * @param room the bytes that are left for all attachments together
 * @throws MailContentError `E_MAIL_ATTACHMENT`, `E_MAIL_SIZE`; the errors of a stream and of the storage
 */
export async function readAttachments(
  attachments: readonly MailAttachment[],
  storage: MailStorage | undefined,
  room: number,
  signal: AbortSignal,
): Promise<readonly MailFile[]> {
  if (attachments.length > MAX_FILES) throw invalidAttachment(`more than ${MAX_FILES} attachments`);
  const files: MailFile[] = [];
  let left = room;
  for (const attachment of attachments) {
    const head = readHead(attachment);
    const content = await readBytes(openSource(attachment, storage, signal), left, signal);
    left -= content.length;
    files.push({ ...head, content });
  }
  return files;
}

function readHead({ name, type = "application/octet-stream", contentId }: AttachmentName): Omit<MailFile, "content"> {
  if (typeof name !== "string" || name === "" || Buffer.byteLength(name) > MAX_NAME_BYTES || /[/\\]/.test(name))
    throw invalidAttachment(`a name that is empty, has a slash or more than ${MAX_NAME_BYTES} bytes`);
  if (hasForbiddenCharacter(name)) throw invalidAttachment("a name with a control character, such as a line break");
  if (!isMailType(type)) throw invalidAttachment("a type that is not a media type such as application/pdf");
  if (contentId !== undefined && !/^[\w.@-]{1,100}$/.test(contentId))
    throw invalidAttachment("a contentId with other characters than letters, digits, -, _, . and @");
  return { name, type, contentId };
}

function openSource(
  attachment: MailAttachment,
  storage: MailStorage | undefined,
  signal: AbortSignal,
): MailBytes | Promise<MailBytes> {
  if (!("storageKey" in attachment)) return attachment.content;
  if (storage !== undefined) return storage.get(attachment.storageKey, { signal }).then(({ body }) => body);
  throw invalidAttachment("a storageKey, and the mailer has no storage: give it the option storage");
}

type MailBytes = Uint8Array | AsyncIterable<Uint8Array>;

async function readBytes(
  given: MailBytes | Promise<MailBytes>,
  room: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const source: unknown = await given;
  if (source instanceof Uint8Array) {
    if (source.length > room) throw tooLarge();
    return source;
  }
  if (typeof source !== "object" || source === null || !(Symbol.asyncIterator in source))
    throw invalidAttachment("a content that is neither bytes nor a stream: for a text use Buffer.from(text)");
  // The chunks are checked one by one.
  return collect(source as AsyncIterable<unknown>, room, signal);
}

async function collect(stream: AsyncIterable<unknown>, room: number, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    signal.throwIfAborted();
    if (!(chunk instanceof Uint8Array)) throw invalidAttachment("a stream of values that are not bytes");
    size += chunk.length;
    if (size > room) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function invalidAttachment(fault: string): MailContentError {
  return new MailContentError("E_MAIL_ATTACHMENT", `a mail cannot have ${fault}`);
}

function tooLarge(): MailContentError {
  return new MailContentError(
    "E_MAIL_SIZE",
    "the attachments of a mail are larger than its limit: send links, or raise maxBytes of the mailer",
  );
}
