/**
 * The head of an answer at the moment it is sent. Stages that promise a header on every answer add it here, whoever answered:
 * handler, refusal, backstop, or a write by hand.
 */
import type { ServerResponse } from "node:http";
import type { Exchange } from "./exchange.js";

export interface HeadCompleter {
  complete(exchange: Exchange, head: Head): void;
}

export interface Head {
  has(name: string): boolean;
  get(name: string): string | undefined;
  /** Adds, or puts in place of what was there. The value is one that a header may hold, which need not be looked at again. */
  set(name: string, value: string): void;
  /** Adds all pairs `[name, value, name, value, …]` that are not there yet. */
  floor(pairs: readonly string[]): void;
}

/**
 * A head nobody has touched: what stages add to it, and nothing else. Names are constants, spelled alike by all who use them; values are
 * constants, numbers, or come from parsers that let nothing through which no header may hold. So it is text that nobody has to check.
 */
export class FreshHead implements Head {
  readonly pairs: string[] = [];

  has(name: string): boolean {
    return this.indexOf(name) >= 0;
  }

  get(name: string): string | undefined {
    const at = this.indexOf(name);
    return at < 0 ? undefined : this.pairs[at + 1];
  }

  set(name: string, value: string): void {
    const at = this.indexOf(name);
    if (at < 0) this.pairs.push(name, value);
    else this.pairs[at + 1] = value;
  }

  floor(pairs: readonly string[]): void {
    for (let at = 0; at < pairs.length; at += 2) {
      const name = pairs[at] ?? "";
      if (this.indexOf(name) < 0) this.pairs.push(name, pairs[at + 1] ?? "");
    }
  }

  /** As they stand in an answer, each line with its end. */
  lines(): string {
    const { pairs } = this;
    let lines = "";
    for (let at = 0; at < pairs.length; at += 2) lines = lines + pairs[at] + ": " + pairs[at + 1] + "\r\n";
    return lines;
  }

  private indexOf(name: string): number {
    const { pairs } = this;
    for (let at = 0; at < pairs.length; at += 2) if (pairs[at] === name) return at;
    return -1;
  }
}

/** A head that lives on Node's response already. */
export class WrittenHead implements Head {
  constructor(private readonly raw: ServerResponse) {}

  has(name: string): boolean {
    return this.raw.hasHeader(name);
  }

  get(name: string): string | undefined {
    const value = this.raw.getHeader(name);
    return value === undefined ? undefined : String(value);
  }

  set(name: string, value: string): void {
    this.raw.setHeader(name, value);
  }

  floor(pairs: readonly string[]): void {
    for (let at = 0; at < pairs.length; at += 2) {
      const name = pairs[at] ?? "";
      if (!this.raw.hasHeader(name)) this.raw.setHeader(name, pairs[at + 1] ?? "");
    }
  }
}
