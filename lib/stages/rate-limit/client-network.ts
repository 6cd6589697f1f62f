/**
 * The network of a client's IPv6 address. A provider gives each customer at least a /64 (RFC 6177 section 2), and the customer may use any
 * of its 2^64 addresses (RFC 8981), so a limit for each single address would have no effect.
 *
 * Not for IPv4, where an address already belongs to one customer or more.
 *
 * @example
 * getClientNetwork("2001:db8:1:2:3:4:5:6", 64); // "2001:db8:1:2::/64"
 * getClientNetwork("203.0.113.7", 64); // "203.0.113.7"
 */

const GROUP_BITS = 16;
const GROUPS = 8;
export const ADDRESS_BITS = GROUP_BITS * GROUPS;

/**
 * The address itself for IPv4, for an empty text, and for an address with a zone: all clients of a link share the /64 of the link-local
 * addresses (RFC 4291 section 2.5.6).
 *
 * @param address as `ctx.ip` spells it
 * @param prefix the leading bits that count, 1 to 128
 */
export function getClientNetwork(address: string, prefix: number): string {
  if (prefix === ADDRESS_BITS || !address.includes(":") || address.includes("%")) return address;
  const groups = parseGroups(address).slice(0, Math.ceil(prefix / GROUP_BITS));
  const hostBits = groups.length * GROUP_BITS - prefix;
  const last = groups.length - 1;
  groups[last] = ((groups[last] ?? 0) >>> hostBits) << hostBits;
  const text = groups.map((group) => group.toString(16)).join(":");
  return `${text}${groups.length < GROUPS ? "::" : ""}/${prefix}`;
}

/** The eight groups of an IPv6 address; `::` stands for as many zeros as are missing (RFC 4291 section 2.2). */
function parseGroups(address: string): number[] {
  const [head = "", tail] = address.split("::", 2);
  const [before, after] = [parsePart(head), parsePart(tail ?? "")];
  const missing = Math.max(0, GROUPS - before.length - after.length);
  return [...before, ...Array.from({ length: missing }, () => 0), ...after];
}

function parsePart(part: string): number[] {
  return part === ""
    ? []
    : part.split(":").flatMap((group) => (group.includes(".") ? parseIpv4Groups(group) : [parseHex(group)]));
}

/** The last two groups may be written as an IPv4 address: `::192.0.2.1`. */
function parseIpv4Groups(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number);
  return [a * 256 + b, c * 256 + d];
}

function parseHex(group: string): number {
  return Number.parseInt(group, 16);
}
