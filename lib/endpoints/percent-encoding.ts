/**
 * Percent encoding of path segments (RFC 3986 sections 2.1 and 3.3): decoding, and one canonical spelling for each text.
 *
 * The canonical spelling of a segment is its decoded text with every character that a segment may hold written plainly, and every
 * other character as upper-case `%XX` of its UTF-8 octets. Two segments are equal when their canonical spellings are.
 * Do not use it for queries or forms, where `+` means a space.
 */

/** The octets that `encodeURIComponent` encodes although a segment may hold them. */
const OVERENCODED = /%(?:3A|40|24|26|2B|2C|3B|3D)/g;
const OCTETS = /[\u0080-\u00ff]/g;
const BEYOND_ASCII = /[^\0-\u007f]+/g;
const NEEDS_DECODING = /[%\0]|[^\0-\u007f]/;

/**
 * Decodes a part of a request target. Node gives a raw octet above ASCII as a character, which counts as percent-encoded. Returns
 * `undefined` for a malformed encoding, for octets that are not UTF-8 and for NUL.
 */
export function decodePart(raw: string): string | undefined {
  if (!NEEDS_DECODING.test(raw)) return raw;
  try {
    const text = decodeURIComponent(raw.replace(OCTETS, encodeOctet));
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Decodes a segment in source code, where a character above ASCII is the character itself. */
export function decodeSource(segment: string): string | undefined {
  try {
    return decodePart(segment.replace(BEYOND_ASCII, encodeURIComponent));
  } catch {
    return undefined;
  }
}

/** Returns the canonical spelling of a decoded segment; `undefined` for half of a surrogate pair, which has no UTF-8. */
export function toCanonicalSegment(text: string): string | undefined {
  try {
    return encodeURIComponent(text).replace(OVERENCODED, decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** Returns the canonical spelling of a request path, segment by segment; `undefined` where it cannot be decoded. */
export function toCanonicalPath(path: string): string | undefined {
  const segments: string[] = [];
  for (const raw of path.split("/")) {
    const text = decodePart(raw);
    const segment = text === undefined ? undefined : toCanonicalSegment(text);
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  return segments.join("/");
}

function encodeOctet(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}
