/**
 * The address of the client and the scheme that it used, behind proxies that the operator trusts. A client can write anything into
 * `X-Forwarded-For` and `X-Forwarded-Proto`. So the entries are read from the right, the nearest proxy first, and only as long as
 * each one was written by a trusted proxy. `Forwarded`, `X-Real-IP` and `X-Forwarded-Host` are never read.
 *
 * Not for access control: an address is not an identity.
 *
 * @example
 * const proxies = TrustedProxies.parse("10.0.0.0/8, fd00::/8");
 * proxies.clientIp("10.1.2.3", ["203.0.113.7, 10.9.9.9"]); // "203.0.113.7"
 */
import { valueText } from "../errors/value-text.js";
import { isIPv4, isIPv6, SocketAddress, BlockList } from "node:net";
import { trimWhitespace } from "./field-value.js";
import { FrameworkError } from "../errors/framework-error.js";

/** The longest valid entry: 45 characters of address, two brackets, `:65535`. */
const MAX_ENTRY_LENGTH = 53;
const MAPPED = "::ffff:";

/**
 * An IP address in the one spelling that is compared: IPv4 as it is, IPv6 compressed and in lower case (RFC 5952), an IPv4-mapped IPv6
 * address as IPv4 (RFC 4291 section 2.5.5.2). `undefined` for any other text, and for an address with a zone (`%eth0`).
 *
 * @example
 * readAddress("::FFFF:10.0.0.1"); // "10.0.0.1"
 */
export function readAddress(text: string): string | undefined {
  if (text.length > MAX_ENTRY_LENGTH) return undefined;
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const { address } = new SocketAddress({ address: text, family: "ipv6" });
  return isMappedAddress(address) ? address.slice(MAPPED.length) : address;
}

/** The address of an entry of `X-Forwarded-For`: `ip`, `ip:port`, `[v6]` or `[v6]:port`, with whitespace around it or without. */
export function readForwardedEntry(entry: string): string | undefined {
  const text = trimWhitespace(entry);
  if (text.length > MAX_ENTRY_LENGTH) return undefined;
  if (text.startsWith("[")) return readBracketed(text);
  const colon = text.indexOf(":");
  // Two colons mean IPv6, which has a port only after brackets.
  if (colon === -1 || text.includes(":", colon + 1)) return readAddress(text);
  return isPort(text, colon + 1) ? readAddress(text.slice(0, colon)) : undefined;
}

/** The address of a connection in that spelling. The system reports it, so only a mapped address changes; a zone stays. */
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

/** An address, and the number of its leading bits that are compared. The other bits may have any value. */
export interface AddressBlock {
  readonly address: string;
  readonly prefix: number;
}

/**
 * An entry of the operator's list: a CIDR block (RFC 4632, RFC 4291 section 2.3), or an address, which is a block of one address.
 * `undefined` for any other text. Entries that clients send are read by `readForwardedEntry`.
 *
 * @example
 * readBlock("10.0.0.0/8"); // { address: "10.0.0.0", prefix: 8 }
 */
export function readBlock(entry: string): AddressBlock | undefined {
  const slash = entry.indexOf("/");
  const text = slash === -1 ? entry : entry.slice(0, slash);
  const address = readAddress(text);
  if (address === undefined) return undefined;
  const width = isIPv4(address) ? 32 : 128;
  if (slash === -1) return { address, prefix: width };
  // The prefix of a mapped address includes the 96 bits before the IPv4 address.
  const mappedBits = width === 32 && text.includes(":") ? 96 : 0;
  const prefix = readPrefix(entry.slice(slash + 1));
  const isInRange = prefix !== undefined && prefix >= mappedBits && prefix <= mappedBits + width;
  return isInRange ? { address, prefix: prefix - mappedBits } : undefined;
}

function readPrefix(digits: string): number | undefined {
  const prefix = Number(digits);
  // Digits alone: no sign, no exponent, no leading zero, no whitespace.
  return String(prefix) === digits && Number.isInteger(prefix) && prefix >= 0 ? prefix : undefined;
}

/** The number of addresses whose verdict is remembered. When it is reached, all verdicts are forgotten. */
const MAX_VERDICTS = 1024;

export class TrustedProxies {
  /** Trusts no proxy: the client is the peer. */
  static readonly none = new TrustedProxies([]);

  // One list for each family: in a common list `::/0` would match IPv4 addresses, and IPv4 blocks would match mapped addresses.
  readonly #v4 = new BlockList();
  readonly #v6 = new BlockList();
  readonly #verdicts = new Map<string, boolean>();
  readonly #isEmpty: boolean;

  private constructor(blocks: readonly AddressBlock[]) {
    this.#isEmpty = blocks.length === 0;
    for (const { address, prefix } of blocks) {
      if (isIPv4(address)) this.#v4.addSubnet(address, prefix, "ipv4");
      else this.#v6.addSubnet(address, prefix, "ipv6");
    }
  }

  /**
   * Reads addresses and CIDR blocks, separated by commas or whitespace. Host bits are masked, and IPv4-mapped IPv6 counts as IPv4.
   *
   * @throws FrameworkError `E_TRUSTED_PROXIES`, naming every entry that is neither; `build()` reports it as a diagnostic.
   */
  static parse(list: string | undefined): TrustedProxies {
    // A caller in JavaScript may pass an array.
    if (typeof list !== "string" && list !== undefined) throw invalidProxies([valueText(list)]);
    const entries = (list ?? "").split(/[\s,]/u).filter((entry) => entry !== "");
    const blocks: AddressBlock[] = [];
    const invalid: string[] = [];
    for (const entry of entries) {
      const block = readBlock(entry);
      if (block === undefined) invalid.push(JSON.stringify(entry));
      else blocks.push(block);
    }
    if (invalid.length > 0) throw invalidProxies(invalid);
    return blocks.length === 0 ? TrustedProxies.none : new TrustedProxies(blocks);
  }

  /**
   * The client's address; `""` if the peer has none (IPC).
   *
   * @param peer the address of the peer, as the socket reports it
   * @param forwardedFor every `X-Forwarded-For` line, in order (`req.headersDistinct["x-forwarded-for"]`)
   */
  clientIp(peer: string | undefined, forwardedFor: readonly string[] | undefined): string {
    const address = readPeer(peer ?? "");
    if (forwardedFor === undefined || !this.#trustsPeer(address)) return address;
    return this.#walk(address, forwardedFor);
  }

  /**
   * The client's scheme: the last value of `X-Forwarded-Proto` if the peer is trusted and the value is `http` or `https`; else
   * `fallback`, the scheme of the connection.
   *
   * @param forwardedProto every `X-Forwarded-Proto` line, in order
   */
  protocol(
    peer: string | undefined,
    forwardedProto: readonly string[] | undefined,
    fallback: "http" | "https",
  ): "http" | "https" {
    const line = forwardedProto?.at(-1);
    if (line === undefined || !this.#trustsPeer(readPeer(peer ?? ""))) return fallback;
    // A scheme compares without regard to case (RFC 3986 section 3.1).
    const last = trimWhitespace(line.slice(line.lastIndexOf(",") + 1)).toLowerCase();
    return last === "https" || last === "http" ? last : fallback;
  }

  #walk(peer: string, lines: readonly string[]): string {
    let trusted = peer;
    for (let index = lines.length - 1; index >= 0; index--) {
      const line = lines[index] ?? "";
      for (let end = line.length; end >= 0;) {
        const comma = end === 0 ? -1 : line.lastIndexOf(",", end - 1);
        const address = readForwardedEntry(line.slice(comma + 1, end));
        if (address === undefined) return trusted;
        if (!this.#trusts(address)) return address;
        trusted = address;
        end = comma;
      }
    }
    return trusted;
  }

  #trustsPeer(peer: string): boolean {
    if (this.#isEmpty || peer === "") return false;
    const zone = peer.indexOf("%");
    return this.#trusts(zone === -1 ? peer : peer.slice(0, zone));
  }

  #trusts(address: string): boolean {
    const known = this.#verdicts.get(address);
    if (known !== undefined) return known;
    const verdict = isIPv4(address)
      ? this.#v4.check(address, "ipv4")
      : isIPv6(address) && this.#v6.check(address, "ipv6");
    if (this.#verdicts.size >= MAX_VERDICTS) this.#verdicts.clear();
    this.#verdicts.set(address, verdict);
    return verdict;
  }
}

function invalidProxies(invalid: readonly string[]): FrameworkError {
  const named = invalid.length === 1 ? `trusted proxy ${invalid[0]} is` : `trusted proxies ${invalid.join(", ")} are`;
  const fix = "write an IP address or a CIDR block such as 10.0.0.0/8 or fd00::/8, with a prefix of at most 32 or 128";
  return new FrameworkError(`${named} neither an address nor a block: ${fix}`, { code: "E_TRUSTED_PROXIES" });
}
