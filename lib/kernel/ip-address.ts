/**
 * Reads an IP address into the one spelling everything else compares: IPv4 as it is, IPv6 compressed and in lower case
 * (RFC 5952), an IPv4-mapped IPv6 address as the IPv4 address it stands for (RFC 4291 section 2.5.5.2).
 * Bounded and total: whatever the input, it gives an address or `undefined`.
 *
 * For addresses that come as text from outside. It resolves no names.
 *
 * @example
 * readAddress("::FFFF:10.0.0.1"); // "10.0.0.1"
 * readForwardedEntry("[2001:DB8::1]:443"); // "2001:db8::1"
 */
import { isIPv4, isIPv6, SocketAddress } from "node:net";
import { trimBlanks } from "./blanks.js";

/** The longest entry there is: 45 characters of address, two brackets, `:65535`. */
const MAX_ENTRY_LENGTH = 53;
const MAPPED = "::ffff:";

/** The address in its one spelling; `undefined` for anything else, an address with a zone (`%eth0`) included. */
export function readAddress(text: string): string | undefined {
  if (text.length > MAX_ENTRY_LENGTH) return undefined;
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const { address } = new SocketAddress({ address: text, family: "ipv6" });
  return isMappedAddress(address) ? address.slice(MAPPED.length) : address;
}

/** One entry of `X-Forwarded-For`: `ip`, `ip:port`, `[v6]` or `[v6]:port`, blanks around it allowed. */
export function readForwardedEntry(entry: string): string | undefined {
  const text = trimBlanks(entry);
  if (text.length > MAX_ENTRY_LENGTH) return undefined;
  if (text.startsWith("[")) return readBracketed(text);
  const colon = text.indexOf(":");
  // Two colons make it IPv6, which takes a port in brackets only.
  if (colon === -1 || text.includes(":", colon + 1)) return readAddress(text);
  return isPort(text, colon + 1) ? readAddress(text.slice(0, colon)) : undefined;
}

/** The address of a connection, as the system reports it: only the mapped form needs another spelling, and a zone stays. */
export function readPeer(peer: string): string {
  return isMappedAddress(peer) ? peer.slice(MAPPED.length) : peer;
}

function readBracketed(text: string): string | undefined {
  const end = text.indexOf("]");
  const address = text.slice(1, end);
  const rest = text.slice(end + 1);
  if (end === -1 || !address.includes(":")) return undefined;
  return rest === "" || (rest.startsWith(":") && isPort(rest, 1)) ? readAddress(address) : undefined;
}

function isMappedAddress(address: string): boolean {
  return address.startsWith(MAPPED) && isIPv4(address.slice(MAPPED.length));
}

function isPort(text: string, start: number): boolean {
  const digits = text.length - start;
  if (digits < 1 || digits > 5) return false;
  let port = 0;
  for (let index = start; index < text.length; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) return false;
    port = port * 10 + digit;
  }
  return port <= 65_535;
}
