/**
 * Adds field names to `Vary` (RFC 9110 section 12.5.5). A stage does this if its response depends on a request header: compression, CORS,
 * static files. Names are compared without regard to case and never repeated; a `*` stays alone.
 *
 * @example
 * varyBy(head, "Accept-Encoding"); // at the moment the head is sent
 * mergeVary("Origin, accept", "Accept"); // "Origin, accept"
 */
import type { ResponseHead, HeadCompleter } from "./response-head.js";
import type { Exchange } from "../request/exchange.js";
import { BoundedMemo } from "../request/bounded-memo.js";

/** Adds `names` to the `Vary` of a head: one field name, or several separated by commas. */
export function varyBy(head: Pick<ResponseHead, "get" | "set">, names: string): void {
  const current = head.get("Vary");
  const merged = mergeVary(current, names);
  if (merged !== current) head.set("Vary", merged);
}

/** The value of `Vary` with the names of both values. The first spelling of a name stays. */
export function mergeVary(current: string | undefined, names: string): string {
  if (current === undefined || current === "") return names;
  if (current === names) return current;
  const members: string[] = [];
  const known = new Set<string>();
  for (const member of `${current},${names}`.split(",")) {
    const name = member.trim();
    if (name === "*") return "*";
    if (name === "" || known.has(name.toLowerCase())) continue;
    known.add(name.toLowerCase());
    members.push(name);
  }
  return members.join(", ");
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
