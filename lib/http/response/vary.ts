/**
 * Adds field names to `Vary` (RFC 9110 section 12.5.5). A stage does this if its response depends on a request header: compression, CORS,
 * static files.
 *
 * @example
 * varyBy(head, "Accept-Encoding"); // at the moment the head is sent
 * mergeVary("Origin, accept", "Accept"); // "Origin, accept"
 */
import type { ResponseHead, HeadCompleter } from "./response-head.js";
import type { Exchange } from "../request/exchange.js";
import packages from "../packages.cjs";
import { BoundedMemo } from "../request/bounded-memo.js";

/** Adds `names` to the `Vary` of a head: one field name, or several separated by commas. */
export function varyBy(head: Pick<ResponseHead, "get" | "set">, names: string): void {
  const current = head.get("Vary");
  const merged = mergeVary(current, names);
  if (merged !== current) head.set("Vary", merged);
}

/** The value of `Vary` with the added names. A name is not added twice; a `*` stays alone. */
export function mergeVary(current: string | undefined, names: string): string {
  return packages.appendVary(current ?? "", names);
}

/**
 * Adds the same names to the `Vary` of many responses. Most responses have one of a few values already, so the results are cached: merging
 * again would cost more than the rest of the stage.
 */
export class VaryCompleter implements HeadCompleter {
  private readonly merged: BoundedMemo<string>;

  /** @param names one field name, or several separated by commas */
  constructor(private readonly names: string) {
    this.merged = new BoundedMemo((current) => mergeVary(current, names));
  }

  complete(_exchange: Exchange, head: ResponseHead): void {
    const current = head.get("Vary");
    if (current === undefined) head.set("Vary", this.names);
    else head.set("Vary", this.merged.get(current));
  }
}
