/**
 * Reads one entry of a list of trusted addresses: an IP address, or a CIDR block (RFC 4632, RFC 4291 section 2.3).
 * For lists an operator writes; what clients send is read by `ip-address.ts`.
 *
 * @example
 * readBlock("10.0.0.0/8"); // { address: "10.0.0.0", prefix: 8 }
 */
import { isIPv4 } from "node:net";
import { readAddress } from "./ip-address.js";

/** An address and how many of its leading bits count; the host bits may be anything. */
export interface AddressBlock {
  readonly address: string;
  readonly prefix: number;
}

/** The block, an address alone being a block of one; `undefined` for anything else. */
export function readBlock(entry: string): AddressBlock | undefined {
  const slash = entry.indexOf("/");
  const text = slash === -1 ? entry : entry.slice(0, slash);
  const address = readAddress(text);
  if (address === undefined) return undefined;
  const width = isIPv4(address) ? 32 : 128;
  if (slash === -1) return { address, prefix: width };
  // A prefix on the mapped spelling counts the 96 bits before the IPv4 address.
  const before = width === 32 && text.includes(":") ? 96 : 0;
  const prefix = readPrefix(entry.slice(slash + 1));
  const isInRange = prefix !== undefined && prefix >= before && prefix <= before + width;
  return isInRange ? { address, prefix: prefix - before } : undefined;
}

function readPrefix(digits: string): number | undefined {
  const prefix = Number(digits);
  // Only the plain spelling: no sign, no exponent, no leading zero, no blank.
  return String(prefix) === digits && Number.isInteger(prefix) && prefix >= 0 ? prefix : undefined;
}
