/**
 * One text, one spelling: percent encoding of path segments (RFC 3986 sections 2.1 and 3.3).
 *
 * The canonical spelling of a segment is its decoded text with every character that may stand in a segment written plainly and
 * every other one as upper-case `%XX` of its UTF-8 octets. Two segments are the same where their canonical spellings are.
 * Not for queries or forms, where `+` means a blank.
 */

/** Which ASCII characters are their own canonical spelling: `pchar` of RFC 3986, and the slash that separates segments. */
const PLAIN = plainCharacters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/");

/** What `encodeURIComponent` encodes although a segment may hold it. */
const OVERENCODED = /%(?:3A|40|24|26|2B|2C|3B|3D)/g;
const OCTETS = /[\u0080-\u00ff]/g;
const BEYOND_ASCII = /[^\0-\u007f]+/g;

/** Whether the path, slashes included, is its own canonical spelling. */
export function isPlain(path: string): boolean {
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at);
    if (code > 0x7f || PLAIN[code] === 0) return false;
  }
  return true;
}

/**
 * The text behind a part of a request target. A raw character above ASCII is the octet Node read, as if it were percent-encoded.
 * `undefined` for a malformed encoding, for octets that are not UTF-8 and for NUL.
 */
export function decoded(raw: string): string | undefined {
  if (isPlain(raw)) return raw;
  try {
    const text = decodeURIComponent(raw.replace(OCTETS, octet));
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The text behind a segment written in source code, where characters above ASCII are themselves. */
export function decodedSource(segment: string): string | undefined {
  try {
    return decoded(segment.replace(BEYOND_ASCII, encodeURIComponent));
  } catch {
    return undefined;
  }
}

/** The canonical spelling of a decoded segment; `undefined` for half of a surrogate pair, which has no UTF-8. */
export function canonicalSegment(text: string): string | undefined {
  try {
    return encodeURIComponent(text).replace(OVERENCODED, decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** The canonical spelling of a request path, slash by slash; `undefined` where it cannot be decoded. */
export function canonicalPath(path: string): string | undefined {
  const segments: string[] = [];
  for (const raw of path.split("/")) {
    const text = decoded(raw);
    const segment = text === undefined ? undefined : canonicalSegment(text);
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  return segments.join("/");
}

function octet(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}

function plainCharacters(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
