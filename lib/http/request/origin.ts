/**
 * Origins and their comparison. Scheme and host are case-insensitive, and the default port of a scheme equals a missing port (RFC 9110
 * section 4.2.3). So origins are compared in the spelling of a URL, never as text: `Host: shop.example:80` is the host of
 * `http://shop.example`.
 */

/** The members of a request's context that name its site. */
interface Site {
  readonly protocol: string;
  readonly host: string;
}

/** The origin of an http or https URL, or of an `Origin` header, as a URL spells it; `undefined` for any other text. */
export function findOrigin(url: string): string | undefined {
  return /^https?:/i.test(url) ? parseUrl(url)?.origin : undefined;
}

/** `undefined` for a text that is no URL. `URL.canParse` of Node 20 and 22 refuses texts in Latin-1 after some thousand calls. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/**
 * The origins that pages of this site may have: that of the request, that of the configured URL, and for a request over HTTP the same host
 * over HTTPS, because a proxy that ends TLS may not be listed as trusted. An HTTPS request never gets an HTTP origin in addition.
 */
export function listSiteOrigins({ protocol, host }: Site, configured = ""): readonly string[] {
  // A server of the caller may accept a `Host` with these characters. The host of a URL cannot have them.
  const name = /[@/\\?#]/.test(host) ? "" : host;
  const urls = [`${protocol}://${name}`, `https://${name}`, configured];
  return urls.map(findOrigin).filter((origin) => origin !== undefined);
}

/** Whether an origin, or the origin of a URL, is one of them. */
export function isSiteUrl(url: string, origins: readonly string[]): boolean {
  const origin = findOrigin(url);
  return origin !== undefined && origins.includes(origin);
}
