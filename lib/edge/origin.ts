/**
 * The `Origin` header (RFC 6454 section 7, the Fetch standard): `scheme://host` or `scheme://host:port`, and `null` for an origin
 * that will not say. Nothing else is an origin: no list, no path, no user.
 */

/** Whether `text` is the serialisation of an origin; `null` is not one here. */
export function isOrigin(text: string): boolean {
  const authority = text.indexOf("://");
  if (authority < 1 || authority + 3 === text.length) return false;
  for (let at = 0; at < authority; at++) if (!isSchemeCharacter(text.charCodeAt(at))) return false;
  for (let at = authority + 3; at < text.length; at++) if (!isHostCharacter(text.charCodeAt(at))) return false;
  return true;
}

function isSchemeCharacter(code: number): boolean {
  return isLetterOrDigit(code) || code === 0x2b || code === 0x2d || code === 0x2e;
}

/** Letters, digits, `- . _`, and `: [ ]` of a port and an IPv6 address. */
function isHostCharacter(code: number): boolean {
  return isSchemeCharacter(code) || code === 0x3a || code === 0x5b || code === 0x5d || code === 0x5f;
}

function isLetterOrDigit(code: number): boolean {
  const lower = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a);
}
