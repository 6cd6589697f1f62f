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
  /** Adds, or puts in place of what was there. */
  set(name: string, value: string): void;
  /** Adds all pairs `[name, value, name, value, …]` that are not there yet. */
  floor(pairs: readonly string[]): void;
}

/** A head nobody has touched: a flat list that Node writes as it is. */
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

  private indexOf(name: string): number {
    const { pairs } = this;
    for (let at = 0; at < pairs.length; at += 2) {
      const other = pairs[at] ?? "";
      if (other === name) return at;
      // Nearly all names that are as long begin with another letter, which is told without a copy of both.
      if (other.length === name.length && (other.charCodeAt(0) ^ name.charCodeAt(0)) % 32 === 0) {
        if (other.toLowerCase() === name.toLowerCase()) return at;
      }
    }
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
