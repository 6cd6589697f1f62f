/**
 * A set of IP addresses, written as addresses and CIDR blocks: the proxies that an application trusts, or the clients that may read its
 * metrics. IPv4 blocks never match IPv6 addresses; an IPv4-mapped IPv6 address counts as IPv4.
 *
 * Not for access control of users: an address is not an identity.
 *
 * @example
 * const inside = AddressBlocks.private.and(AddressBlocks.parse("203.0.113.7, 2001:db8::/32"));
 * inside.includes("10.1.2.3"); // true
 * Application.create().trustedProxies(AddressBlocks.private);
 */
import { BlockList, isIPv4, isIPv6, SocketAddress } from "node:net";
import { createSetupError } from "../../errors/setup-error.js";

/** The longest address in text: IPv6 with an IPv4 address as its end. */
const MAX_ADDRESS_LENGTH = 45;
const MAPPED = "::ffff:";

/** The fix in the message about an entry that is neither an address nor a block. */
export const BLOCK_FIX =
  "write an IP address or a CIDR block such as 10.0.0.0/8 or fd00::/8, with a prefix of at most 32 or 128";

export class AddressBlocks {
  // The constants are not parsed, because the first call of `isIPv6` takes milliseconds, which every application would pay at its start.

  /** No address. */
  static readonly none = new AddressBlocks([]);

  /** This machine (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3). */
  static readonly loopback = new AddressBlocks([
    { address: "127.0.0.0", prefix: 8 },
    { address: "::1", prefix: 128 },
  ]);

  /** The addresses of private networks (RFC 1918 section 3, RFC 4193 section 3). Loopback and link-local addresses are not in it. */
  static readonly private = new AddressBlocks([
    { address: "10.0.0.0", prefix: 8 },
    { address: "172.16.0.0", prefix: 12 },
    { address: "192.168.0.0", prefix: 16 },
    { address: "fc00::", prefix: 7 },
  ]);

  /** The addresses of one network segment (RFC 3927 section 2.1, RFC 4291 section 2.5.6). */
  static readonly linkLocal = new AddressBlocks([
    { address: "169.254.0.0", prefix: 16 },
    { address: "fe80::", prefix: 10 },
  ]);

  // One list for each family: in a common list `::/0` would match IPv4 addresses, and IPv4 blocks would match mapped addresses.
  readonly #v4 = new BlockList();
  readonly #v6 = new BlockList();
  readonly #blocks: readonly AddressBlock[];

  private constructor(blocks: readonly AddressBlock[]) {
    this.#blocks = blocks;
    for (const { address, prefix } of blocks) {
      if (isIPv4(address)) this.#v4.addSubnet(address, prefix, "ipv4");
      else this.#v6.addSubnet(address, prefix, "ipv6");
    }
  }

  /**
   * Reads addresses and CIDR blocks, separated by commas or whitespace. Host bits are masked, and IPv4-mapped IPv6 counts as IPv4.
   *
   * @throws FrameworkError `E_ADDRESS_BLOCKS`, naming every entry that is neither
   */
  static parse(list: string): AddressBlocks {
    const { blocks, invalid } = AddressBlocks.read(list);
    if (invalid.length === 0) return blocks;
    const named = invalid.map((entry) => JSON.stringify(entry)).join(", ");
    throw createSetupError("E_ADDRESS_BLOCKS", `neither an address nor a block: ${named}; ${BLOCK_FIX}`);
  }

  /** The blocks of the list, and each other entry. @internal */
  static read(list: string): { readonly blocks: AddressBlocks; readonly invalid: readonly string[] } {
    const entries = list.split(/[\s,]/u).filter((entry) => entry !== "");
    const blocks: AddressBlock[] = [];
    const invalid: string[] = [];
    for (const entry of entries) {
      const block = readBlock(entry);
      if (block === undefined) invalid.push(entry);
      else blocks.push(block);
    }
    return { blocks: blocks.length === 0 ? AddressBlocks.none : new AddressBlocks(blocks), invalid };
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  /** A set of the addresses of both. */
  and(other: AddressBlocks): AddressBlocks {
    return new AddressBlocks([...this.#blocks, ...other.#blocks]);
  }

  /** Whether the address is in a block. The zone of an address (`%eth0`) is ignored; a text that is not an address is not in any block. */
  includes(address: string): boolean {
    const zone = address.indexOf("%");
    const plain = readAddress(zone === -1 ? address : address.slice(0, zone));
    if (plain === undefined) return false;
    return isIPv4(plain) ? this.#v4.check(plain, "ipv4") : this.#v6.check(plain, "ipv6");
  }
}

/**
 * An IP address in the one spelling that is compared: IPv4 as it is, IPv6 compressed and in lower case (RFC 5952), an IPv4-mapped IPv6
 * address as IPv4 (RFC 4291 section 2.5.5.2). `undefined` for any other text, and for an address with a zone (`%eth0`).
 *
 * @example
 * readAddress("::FFFF:10.0.0.1"); // "10.0.0.1"
 */
export function readAddress(text: string): string | undefined {
  if (text.length > MAX_ADDRESS_LENGTH) return undefined;
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const { address } = new SocketAddress({ address: text, family: "ipv6" });
  return isMappedAddress(address) ? address.slice(MAPPED.length) : address;
}

/** The address of a connection in that spelling. The system reports it, so only a mapped address changes; a zone stays. */
export function readPeer(peer: string): string {
  return isMappedAddress(peer) ? peer.slice(MAPPED.length) : peer;
}

function isMappedAddress(address: string): boolean {
  return address.startsWith(MAPPED) && isIPv4(address.slice(MAPPED.length));
}

/** An address, and the number of its leading bits that are compared. The other bits may have any value. */
interface AddressBlock {
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
function readBlock(entry: string): AddressBlock | undefined {
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
