import { BlockList, isIP } from "node:net";

/** An address, with a prefix length for a block. No zone, because it would be ignored. */
const ENTRY = /^(?<address>[0-9a-f.:]+)(?:\/(?<prefix>[0-9]{1,3}))?$/i;

/** Addresses and CIDR blocks in the text of the operator. */
export class AddressBlocks {
  private readonly list = new BlockList();

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const block = readBlock(entry);
      if (block !== undefined) this.list.addSubnet(block.address, block.prefix, familyOf(block.address));
    }
  }

  static isBlock(this: void, entry: string): boolean {
    return readBlock(entry) !== undefined;
  }

  includes(address: string): boolean {
    return isIP(address) !== 0 && this.list.check(address, familyOf(address));
  }
}

function readBlock(entry: string): { readonly address: string; readonly prefix: number } | undefined {
  const { address = "", prefix } = ENTRY.exec(entry)?.groups ?? {};
  if (isIP(address) === 0) return undefined;
  const width = familyOf(address) === "ipv4" ? 32 : 128;
  const bits = Number(prefix ?? width);
  return bits <= width ? { address, prefix: bits } : undefined;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4";
}
