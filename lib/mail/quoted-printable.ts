/** The encoding quoted-printable of a text (RFC 2045 section 6.7): ASCII in lines of at most 76 characters, with CRLF between them. */

const LINE = 76;
const LINE_BREAK = /\r\n|\r|\n/;

export function encodeQuotedPrintable(text: string): string {
  return text.split(LINE_BREAK).map(encodeLine).join("\r\n");
}

function encodeLine(line: string): string {
  const bytes = Buffer.from(line);
  let encoded = "";
  let length = 0;
  for (const [at, byte] of bytes.entries()) {
    const isLast = at === bytes.length - 1;
    const token = encodeByte(byte, isLast);
    // The last character may fill the place of the soft line break.
    if (length + token.length > (isLast ? LINE : LINE - 1)) {
      encoded += "=\r\n";
      length = 0;
    }
    encoded += token;
    length += token.length;
  }
  return encoded;
}

/** A space or tab at the end of a line would get lost on the way. */
function encodeByte(byte: number, isLast: boolean): string {
  const isBlank = byte === 0x20 || byte === 0x09;
  if (isBlank ? !isLast : byte > 0x20 && byte < 0x7f && byte !== 0x3d) return String.fromCharCode(byte);
  return `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
