/**
 * The address of the client and the scheme that it used, behind proxies that the operator trusts. A client can write any text into
 * `X-Forwarded-For` and `X-Forwarded-Proto`. So the entries are read from the right, the nearest proxy first, and only as long as each one
 * was written by a trusted proxy. `Forwarded`, `X-Real-IP` and `X-Forwarded-Host` are never read.
 *
 * Not for access control: an address is not an identity.
 *
 * @example
 * const proxies = TrustedProxies.parse("10.0.0.0/8, fd00::/8");
 * proxies.clientIp("10.1.2.3", ["203.0.113.7, 10.9.9.9"]); // "203.0.113.7"
 */
import { FrameworkError } from "../../errors/framework-error.js";
import { valueText } from "../../errors/value-text.js";
import { AddressBlocks, BLOCK_FIX, readAddress, readPeer } from "./address-blocks.js";
import { trimWhitespace } from "../response/field-value.js";

/** The longest valid entry: 45 characters of address, two brackets, `:65535`. */
const MAX_ENTRY_LENGTH = 53;

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

function readBracketed(text: string): string | undefined {
  const end = text.indexOf("]");
  const address = text.slice(1, end);
  const rest = text.slice(end + 1);
  if (end === -1 || !address.includes(":")) return undefined;
  return rest === "" || (rest.startsWith(":") && isPort(rest, 1)) ? readAddress(address) : undefined;
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

/** The maximum of addresses whose verdict is cached. When it is reached, all verdicts are removed. */
const MAX_VERDICTS = 1024;

export class TrustedProxies {
  /** Trusts no proxy: the client is the peer. */
  static readonly none = new TrustedProxies(AddressBlocks.none);

  readonly #blocks: AddressBlocks;
  readonly #verdicts = new Map<string, boolean>();

  private constructor(blocks: AddressBlocks) {
    this.#blocks = blocks;
  }

  /**
   * Takes blocks, or reads addresses and CIDR blocks, separated by commas or whitespace.
   *
   * @throws FrameworkError `E_TRUSTED_PROXIES`, naming every entry that is neither; `build()` reports it as a diagnostic.
   */
  static parse(list: string | AddressBlocks | undefined): TrustedProxies {
    const { blocks, invalid } = readList(list);
    if (invalid.length > 0) throw createProxiesError(invalid);
    return blocks.isEmpty ? TrustedProxies.none : new TrustedProxies(blocks);
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
    return !this.#blocks.isEmpty && peer !== "" && this.#trusts(peer);
  }

  #trusts(address: string): boolean {
    const known = this.#verdicts.get(address);
    if (known !== undefined) return known;
    const verdict = this.#blocks.includes(address);
    if (this.#verdicts.size >= MAX_VERDICTS) this.#verdicts.clear();
    this.#verdicts.set(address, verdict);
    return verdict;
  }
}

function readList(list: string | AddressBlocks | undefined) {
  if (list instanceof AddressBlocks) return { blocks: list, invalid: [] };
  // A caller in JavaScript may pass an array.
  if (typeof list === "string" || list === undefined) {
    const { blocks, invalid } = AddressBlocks.read(list ?? "");
    return { blocks, invalid: invalid.map((entry) => JSON.stringify(entry)) };
  }
  return { blocks: AddressBlocks.none, invalid: [valueText(list)] };
}

function createProxiesError(invalid: readonly string[]): FrameworkError {
  const named = invalid.length === 1 ? `trusted proxy ${invalid[0]} is` : `trusted proxies ${invalid.join(", ")} are`;
  return new FrameworkError(`${named} neither an address nor a block: ${BLOCK_FIX}`, { code: "E_TRUSTED_PROXIES" });
}
