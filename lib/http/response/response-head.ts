/**
 * The head of a response at the moment it is sent. Stages that promise a header on every response add it here. Refusals, responses of the
 * last-resort handler and heads that are written by hand then have it too.
 */
import type { ServerResponse } from "node:http";
import type { Exchange } from "../request/exchange.js";

export interface HeadCompleter {
  complete(exchange: Exchange, head: ResponseHead): void;
}

export interface ResponseHead {
  has(name: string): boolean;
  get(name: string): string | undefined;
  /** Adds the header, or replaces it. The value must be valid in a header; it is not checked. */
  set(name: string, value: string): void;
  /** Adds those of the pairs `[name, value, name, value, …]` whose names are not set yet. */
  addMissing(pairs: readonly string[]): void;
  /** Removes all headers whose name starts with `prefix`. @param prefix in lower case */
  removeByPrefix(prefix: string): void;
}

/**
 * The head of a response as text: the headers of the application, which Node has checked, and those that stages add. The names that stages
 * use are constants with one spelling. Their values are constants, numbers, or checked by parsers. So the text needs no check.
 */
export class TextHead implements ResponseHead {
  readonly pairs: string[] = [];

  has(name: string): boolean {
    return this.findPairIndex(name) >= 0;
  }

  get(name: string): string | undefined {
    const at = this.findPairIndex(name);
    return at >= 0 ? this.pairs[at + 1] : undefined;
  }

  set(name: string, value: string): void {
    const at = this.findPairIndex(name);
    if (at >= 0) this.pairs[at + 1] = value;
    else this.pairs.push(name, value);
  }

  addMissing(pairs: readonly string[]): void {
    for (let at = 0; at < pairs.length; at += 2) {
      const name = pairs[at] ?? "";
      if (!this.has(name)) this.pairs.push(name, pairs[at + 1] ?? "");
    }
  }

  removeByPrefix(prefix: string): void {
    const { pairs } = this;
    for (let at = pairs.length - 2; at >= 0; at -= 2)
      if (pairs[at]?.toLowerCase().startsWith(prefix)) pairs.splice(at, 2);
  }

  /** The header lines, each with its line end. */
  lines(): string {
    const { pairs } = this;
    let lines = "";
    for (let at = 0; at < pairs.length; at += 2) lines = lines + pairs[at] + ": " + pairs[at + 1] + "\r\n";
    return lines;
  }

  private findPairIndex(name: string): number {
    const { pairs } = this;
    for (let at = 0; at < pairs.length; at += 2) if (pairs[at] === name) return at;
    return -1;
  }
}

/** The head on Node's response, where headers are set already. */
export class NodeHead implements ResponseHead {
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

  addMissing(pairs: readonly string[]): void {
    for (let at = 0; at < pairs.length; at += 2) {
      const name = pairs[at] ?? "";
      if (!this.raw.hasHeader(name)) this.raw.setHeader(name, pairs[at + 1] ?? "");
    }
  }

  removeByPrefix(prefix: string): void {
    for (const name of this.raw.getHeaderNames()) if (name.startsWith(prefix)) this.raw.removeHeader(name);
  }
}
