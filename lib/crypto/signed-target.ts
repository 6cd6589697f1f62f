/**
 * The signature of a request target: an HMAC-SHA256 over a purpose, the method, the origin, the path, and the parameters of the query,
 * one of which is the deadline. It signs bytes, not values: another spelling of the same value has another signature.
 *
 * Parameters of different names may change their order. Those of one name may not, because a handler may read the first or the last.
 */
import { createHmac, type KeyObject } from "node:crypto";
import { isSame } from "../runtime/same-text.js";

/** Longer targets are never valid. Node refuses heads of more than 16 KiB. */
export const MAX_TARGET_LENGTH = 8192;
/** The parameters that a signature adds. */
export const SIGNING_PARAMETERS: ReadonlySet<string> = new Set(["expires", "signature"]);

const EXPIRES = "expires=";
const SIGNATURE = "signature=";
/** Printable characters of ASCII without the number sign, which begins a fragment. */
const TARGET = /^\/[!"$-~]*$/;

export class TargetSigner {
  /**
   * @param keys the first signs, all verify
   * @param purpose separates these signatures from others under the same key
   */
  constructor(
    private readonly keys: readonly [KeyObject, ...(readonly KeyObject[])],
    private readonly purpose: string,
    private readonly origin: string,
  ) {}

  /** The target with the deadline and the signature as its last parameters. */
  sign(method: string, target: string, expiresAt: Date): string {
    const { path, pairs } = splitTarget(target);
    const all = [...pairs, EXPIRES + expiresAt.getTime()];
    return `${path}?${all.join("&")}&${SIGNATURE}${computeMac(this.keys[0], this.toText(method, path, all))}`;
  }

  /** The parameters without the signature; `undefined` if the signature is wrong or the deadline has passed. */
  verify(method: string, target: string, now: number): URLSearchParams | undefined {
    if (target.length > MAX_TARGET_LENGTH || !TARGET.test(target)) return undefined;
    const { path, pairs } = splitTarget(target);
    const signatures = pairs.filter((pair) => pair.startsWith(SIGNATURE));
    const others = pairs.filter((pair) => !pair.startsWith(SIGNATURE));
    const text = this.toText(method, path, others);
    const given = signatures.join("&").slice(SIGNATURE.length);
    if (!this.keys.some((key) => isSame(computeMac(key, text), given))) return undefined;
    // The signature covers the parameters, so they were not changed.
    const parameters = new URLSearchParams(others.join("&"));
    return now <= Number(parameters.get("expires")) ? parameters : undefined;
  }

  /** No part has a line break, so two targets never have the same text. */
  private toText(method: string, path: string, pairs: readonly string[]): string {
    // A response to HEAD is that to GET without its content (RFC 9110 section 9.3.2).
    return [this.purpose, method === "HEAD" ? "GET" : method, this.origin, path, ...sortByName(pairs)].join("\n");
  }
}

/** The path, and the parameters as they are written. */
export function splitTarget(target: string): { readonly path: string; readonly pairs: readonly string[] } {
  const start = target.indexOf("?");
  if (start === -1) return { path: target, pairs: [] };
  return { path: target.slice(0, start), pairs: target.slice(start + 1).split("&") };
}

/** The decoded name of a parameter, as a handler reads it. */
export function getParameterName(pair: string): string {
  const [name = ""] = new URLSearchParams(pair).keys();
  return name;
}

/** Parameters of one name stay in their order. */
function sortByName(pairs: readonly string[]): readonly string[] {
  return pairs
    .map((pair) => ({ pair, name: getParameterName(pair) }))
    .toSorted((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)))
    .map(({ pair }) => pair);
}

function computeMac(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}
