/**
 * What a stage adds to `Vary` on every answer that it completes. Answers differ little in the `Vary` they have already, so what it
 * becomes is remembered: merging anew would cost more than the rest of the stage.
 */
import type { Exchange } from "../kernel/exchange.js";
import type { Head, HeadCompleter } from "../kernel/head.js";
import { BoundedMemo } from "./bounded-memo.js";
import { mergeVary } from "./vary.js";

export class Varying implements HeadCompleter {
  private readonly merged: BoundedMemo<string>;

  /** @param names one field name, or several with commas between them */
  constructor(private readonly names: string) {
    this.merged = new BoundedMemo((current) => mergeVary(current, names));
  }

  complete(_exchange: Exchange, head: Head): void {
    const current = head.get("Vary");
    if (current === undefined) head.set("Vary", this.names);
    else head.set("Vary", this.merged.of(current));
  }
}
