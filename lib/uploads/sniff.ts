/**
 * The media type of a file by its first bytes. A client can declare any type and any name, so neither is used.
 *
 * The type is that of the first bytes. The rest of a file may be of another type (a "polyglot"), and an archive may grow without bound when
 * it is unpacked: nothing is unpacked here. Text that a browser would run as a page or a script of a page is `text/html` or
 * `image/svg+xml`, never `text/plain`.
 */

/** Enough bytes for each signature. */
export const SNIFFED_BYTES = 4100;

export interface SniffedType {
  readonly type: string;
  /** The extension with its dot; `""` for a type without a usual extension. */
  readonly extension: string;
}

const UNKNOWN: SniffedType = Object.freeze({ type: "application/octet-stream", extension: "" });

/** Bytes in Latin-1 at a position; the first row that matches decides. */
const SIGNATURES: readonly (readonly [at: number, bytes: string, type: string, extension: string])[] = [
  [0, "\x89PNG\r\n\x1a\n", "image/png", ".png"],
  [0, "\xff\xd8\xff", "image/jpeg", ".jpg"],
  [0, "GIF87a", "image/gif", ".gif"],
  [0, "GIF89a", "image/gif", ".gif"],
  [0, "II*\0", "image/tiff", ".tif"],
  [0, "MM\0*", "image/tiff", ".tif"],
  [0, "8BPS", "image/vnd.adobe.photoshop", ".psd"],
  [0, "\0\0\x01\0", "image/x-icon", ".ico"],
  [0, "%PDF-", "application/pdf", ".pdf"],
  [0, "PK\x05\x06", "application/zip", ".zip"],
  [0, "PK\x07\x08", "application/zip", ".zip"],
  [0, "\x1f\x8b", "application/gzip", ".gz"],
  [0, "BZh", "application/x-bzip2", ".bz2"],
  [0, "\xfd7zXZ\0", "application/x-xz", ".xz"],
  [0, "(\xb5/\xfd", "application/zstd", ".zst"],
  [0, "7z\xbc\xaf'\x1c", "application/x-7z-compressed", ".7z"],
  [0, "Rar!\x1a\x07", "application/vnd.rar", ".rar"],
  [257, "ustar", "application/x-tar", ".tar"],
  [0, "\x1aE\xdf\xa3", "video/x-matroska", ".mkv"],
  [0, "OggS", "application/ogg", ".ogg"],
  [0, "fLaC", "audio/flac", ".flac"],
  [0, "ID3", "audio/mpeg", ".mp3"],
  [0, "\xff\xfb", "audio/mpeg", ".mp3"],
  [0, "\xff\xf3", "audio/mpeg", ".mp3"],
  [0, "\xff\xf2", "audio/mpeg", ".mp3"],
  [0, "wOFF", "font/woff", ".woff"],
  [0, "wOF2", "font/woff2", ".woff2"],
  [0, "OTTO\0", "font/otf", ".otf"],
  [0, "\0\x01\0\0\0", "font/ttf", ".ttf"],
  [0, "\0asm", "application/wasm", ".wasm"],
  [0, "\x7fELF", "application/x-elf", ""],
  [0, "MZ", "application/vnd.microsoft.portable-executable", ""],
  [0, "SQLite format 3\0", "application/vnd.sqlite3", ".sqlite"],
  [0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-cfb", ""],
  [0, "{\\rtf", "application/rtf", ".rtf"],
];

/** The brand of an ISO base media file, at its eighth byte (ISO/IEC 14496-12 section 4.3). */
const BRANDS: readonly (readonly [brand: string, type: string, extension: string])[] = [
  ["avif", "image/avif", ".avif"],
  ["avis", "image/avif", ".avif"],
  ["heic", "image/heic", ".heic"],
  ["heix", "image/heic", ".heic"],
  ["mif1", "image/heif", ".heif"],
  ["qt  ", "video/quicktime", ".mov"],
  ["M4A ", "audio/mp4", ".m4a"],
  ["", "video/mp4", ".mp4"],
];

/** The form of a RIFF file, at its eighth byte. */
const FORMS: readonly (readonly [form: string, type: string, extension: string])[] = [
  ["WEBP", "image/webp", ".webp"],
  ["WAVE", "audio/wav", ".wav"],
  ["AVI ", "video/x-msvideo", ".avi"],
];

/** Names of the first entries of a zip archive that is a document. */
const DOCUMENTS: readonly (readonly [name: RegExp, type: string, extension: string])[] = [
  [/word\//, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"],
  [/xl\//, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"],
  [/ppt\//, "application/vnd.openxmlformats-officedocument.presentationml.presentation", ".pptx"],
  [/^.{26,40}mimetypeapplication\/epub\+zip/s, "application/epub+zip", ".epub"],
  [/^.{26,40}mimetypeapplication\/vnd\.oasis\.opendocument\.text/s, "application/vnd.oasis.opendocument.text", ".odt"],
];

/** Markup that a browser shows as a page: a tag, a comment or a declaration, after spaces (WHATWG MIME Sniffing section 7.1). */
const PAGE =
  /<(?:!doctype\s+html|html|head|body|script|iframe|title|style|table|div|h1|font|br|p|a|b|img|link|meta|base|object|embed|form)[\s>/]/i;
const VECTOR = /<svg[\s>:]/i;
/** A control character that no text has. */
const CONTROL = /(?![\t\n\v\f\r])\p{Cc}/u;

/** @param head the first `SNIFFED_BYTES` of the file, or all of a shorter one */
export function sniff(head: Buffer): SniffedType {
  const text = head.toString("latin1");
  return findBySignature(text) ?? findByContainer(text) ?? detectText(head) ?? UNKNOWN;
}

function findBySignature(text: string): SniffedType | undefined {
  const row = SIGNATURES.find(([at, bytes]) => text.startsWith(bytes, at));
  return row === undefined ? undefined : { type: row[2], extension: row[3] };
}

function findByContainer(text: string): SniffedType | undefined {
  if (text.startsWith("PK\x03\x04")) return findInArchive(text);
  const inner = text.slice(8, 12);
  if (text.startsWith("ftyp", 4)) return findType(BRANDS, (brand) => inner.startsWith(brand));
  if (text.startsWith("RIFF")) return findType(FORMS, (form) => inner === form);
  const isBitmap = text.startsWith("BM") && text.startsWith("\0\0\0\0", 6);
  return isBitmap ? { type: "image/bmp", extension: ".bmp" } : undefined;
}

function findInArchive(text: string): SniffedType {
  return findType(DOCUMENTS, (name) => name.test(text)) ?? { type: "application/zip", extension: ".zip" };
}

function findType<N>(
  rows: readonly (readonly [N, string, string])[],
  matches: (name: N) => boolean,
): SniffedType | undefined {
  const row = rows.find(([name]) => matches(name));
  return row === undefined ? undefined : { type: row[1], extension: row[2] };
}

/** Text in UTF-8. The last bytes may be the start of a character. */
function detectText(head: Buffer): SniffedType | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text: string;
  try {
    text = decoder.decode(head, { stream: true });
  } catch {
    return undefined;
  }
  if (CONTROL.test(text)) return undefined;
  const [vector, page] = [text.search(VECTOR), text.search(PAGE)];
  if (vector >= 0 && (page < 0 || vector < page)) return { type: "image/svg+xml", extension: ".svg" };
  if (page >= 0) return { type: "text/html", extension: ".html" };
  if (/^\s*<\?xml\s/.test(text)) return { type: "application/xml", extension: ".xml" };
  return { type: "text/plain", extension: ".txt" };
}
