/**
 * The `Content-Disposition` of a download (RFC 6266): `attachment` or `inline`, and the name of the file, in ASCII and in UTF-8 (RFC 8187).
 * Do not use it to read the header: a name that a client sends is untrusted input.
 *
 * @example
 * formatContentDisposition("Übersicht.pdf"); // attachment; filename="_bersicht.pdf"; filename*=UTF-8''%C3%9Cbersicht.pdf
 */

const MAX_CHARACTERS = 200;
// Slashes lead out of a folder, controls break the line, and directional marks make `exe` look like `txt`.
const UNSAFE = /[\p{Control}\p{Surrogate}\p{Line_Separator}\p{Paragraph_Separator}\p{Bidi_Control}/\\]/gu;
const NOT_PLAIN = /[^ !#$&'()+,.0-9;=@A-Z[\]^_`a-z{}~-]/g;

/** @param name the name for the client's disk; unsafe characters become `_`. Without one the client takes the last part of the URL */
export function formatContentDisposition(name?: string, isInline = false): string {
  const kind = isInline ? "inline" : "attachment";
  const text = name === undefined ? "" : Array.from(name.replaceAll(UNSAFE, "_")).slice(0, MAX_CHARACTERS).join("");
  if (text === "") return kind;
  const plain = text.replaceAll(NOT_PLAIN, "_");
  const quoted = `${kind}; filename="${plain}"`;
  return plain === text ? quoted : `${quoted}; filename*=UTF-8''${encodeExtended(text)}`;
}

/** RFC 8187 section 3.2.1. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
