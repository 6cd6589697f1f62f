/**
 * The rule for the text of an environment variable, and the value that the text becomes. `environment` reads a table of them.
 *
 * Not for input from clients: a schema of `ctx.json`, `ctx.form` or `ctx.search` reads that.
 *
 * @example
 * variable.port().default(3000); // Variable<number>
 * variable.text().secret().optional(); // Variable<string | undefined>
 * variable.origin().list(); // Variable<readonly string[]>
 * variable.rule("a hex colour", (text) => (/^#[0-9a-f]{6}$/.test(text) ? text : undefined), "write #rrggbb");
 */
import type { KeyObject } from "node:crypto";
import type { Diagnostic } from "../errors/diagnostic.js";
import { findSecretKey, KEY_COMMAND } from "../errors/secret-keys.js";
import { AddressBlocks, BLOCK_FIX } from "../http/request/address-blocks.js";
import { parsePort } from "./config.js";

/** A text that breaks the rule. `text` is the entry of a list, or the whole value. */
interface Fault {
  readonly text: string;
  readonly rule: string;
  readonly fix: string;
}

type Parsed<T> = { readonly value: T } | { readonly faults: readonly Fault[] };

type Parse<T> = (text: string) => Parsed<T>;

/** The value, or the faults to report. */
export type Reading<T> = { readonly value: T } | { readonly diagnostics: readonly Diagnostic[] };

/** One variable. Its methods return a new value, so a variable may stand in several tables. */
export class Variable<T> {
  private constructor(
    private readonly parse: Parse<T>,
    /** With its article. */
    private readonly rule: string,
    private readonly fallback: { readonly value: T } | undefined,
    /** @internal */
    readonly isSecret: boolean,
  ) {}

  /** @internal */
  get hasDefault(): boolean {
    return this.fallback?.value !== undefined;
  }

  /** @internal */
  static of<T>(parse: Parse<T>, rule: string): Variable<T> {
    return new Variable(parse, rule, undefined, false);
  }

  /** The value where the variable is unset or blank. Without `default` and `optional` the variable must be set. */
  default(value: T): Variable<T> {
    return new Variable(this.parse, this.rule, { value }, this.isSecret);
  }

  /** `undefined` where the variable is unset or blank. */
  optional(): Variable<T | undefined> {
    return new Variable<T | undefined>(this.parse, this.rule, { value: undefined }, this.isSecret);
  }

  /** The entries between commas, each under the rule. An unset variable gives an empty list. */
  list(): Variable<readonly T[]> {
    const each = this.parse;
    return new Variable<readonly T[]>((text) => parseList(text, each), this.rule, { value: [] }, this.isSecret);
  }

  /** Keeps the value out of the report of faults. */
  secret(): Variable<T> {
    return new Variable(this.parse, this.rule, this.fallback, true);
  }

  /** Whitespace around the text is cut off; a blank text counts as unset. @internal */
  read(name: string, given: string | undefined): Reading<T> {
    const text = given?.trim() ?? "";
    if (text === "") return this.fallback ?? { diagnostics: [createUnsetDiagnostic(name, this.rule)] };
    const parsed = this.parse(text);
    if ("value" in parsed) return parsed;
    return { diagnostics: parsed.faults.map((fault) => this.diagnostic(name, fault)) };
  }

  private diagnostic(name: string, { text, rule, fix }: Fault): Diagnostic {
    const shown = this.isSecret ? "the value (withheld)" : quoteText(text);
    return { code: "E_VARIABLE", what: `${shown} is not ${rule}`, where: name, fix };
  }
}

/** The rules for the table of `environment`. */
export const variable = {
  /** Any text. */
  text: () => byRule("a text", (text) => text, "write a text"),

  /** A TCP port: 0 to 65535, where 0 is any free port. */
  port: () => byRule("a port", parsePort, "give a whole number from 0 (any free port) to 65535"),

  /** A whole number in digits. The bounds are included. */
  integer: (min = 0, max = Number.MAX_SAFE_INTEGER) =>
    byRule(
      `a whole number from ${min} to ${max}`,
      (text) => readInteger(text, min, max),
      "write digits only, within these bounds",
    ),

  /** `true` or `false`. */
  flag: () => byRule("true or false", (text) => FLAGS.get(text), "write true or false"),

  /** One of these words. */
  oneOf: <const W extends string>(...words: readonly W[]) =>
    byRule(`one of ${words.join(", ")}`, (text) => words.find((word) => word === text), "write one of these words"),

  /** An absolute http or https URL without credentials, as it is written. */
  url: () =>
    byRule(
      "an http or https URL",
      (text) => (isWebUrl(text) ? text : undefined),
      "write an absolute http or https URL without credentials: http://127.0.0.1:4317",
    ),

  /** An absolute URL of a server with one of these schemes, for example `"redis:"`. It may hold credentials. */
  serverUrl: (...schemes: readonly [`${string}:`, ...`${string}:`[]]) =>
    byRule(
      `a URL with ${schemes.join(" or ")}`,
      (text) => (hasScheme(text, schemes) ? text : undefined),
      `write ${schemes[0]}//host:port`,
    ),

  /** The origin of a web page, spelt as browsers send it, because origins compare exactly (RFC 6454 section 6.1). */
  origin: () =>
    byRule(
      "an origin",
      (text) => (isWebUrl(text) && new URL(text).origin === text ? text : undefined),
      "write scheme, host and port as browsers send them, in lower case and without a path: https://app.example",
    ),

  /**
   * Secret keys of 64 bytes each, as 128 hexadecimal characters: one, or several between commas, the current one first. The report never
   * shows them, and nor does an inspection of the values, which are key objects of Node.
   */
  keys: () => byRule(KEYS_RULE, readKeys, `make a key with ${KEY_COMMAND}`).secret(),

  /** Addresses and CIDR blocks, separated by commas or whitespace. */
  addresses: () => Variable.of(readBlocks, BLOCK_RULE),

  /**
   * A custom rule.
   *
   * @param name with its article, for the report: `"abc" is not a hex colour`
   * @param read the value; `undefined`, or a throw, for a text that breaks the rule
   * @param fix the advice of the report: a valid form of the text
   */
  rule: byRule,
};

const KEYS_RULE = "one or more keys of 128 hexadecimal characters";

const FLAGS = new Map([
  ["true", true],
  ["false", false],
]);

const BLOCK_RULE = "an address or a block of addresses";

const WEB = ["http:", "https:"] as const;

function byRule<T>(name: string, read: (text: string) => T | undefined, fix: string): Variable<T> {
  return Variable.of((text) => {
    const value = tryRead(read, text);
    return value === undefined ? { faults: [{ text, rule: name, fix }] } : { value };
  }, name);
}

/** An error that `read` throws is not reported, because its message may hold the text. */
function tryRead<T>(read: (text: string) => T | undefined, text: string): T | undefined {
  try {
    return read(text);
  } catch {
    return undefined;
  }
}

function parseList<T>(text: string, each: Parse<T>): Parsed<readonly T[]> {
  const entries = text.split(",").map((entry) => entry.trim());
  const parsed = entries.filter((entry) => entry !== "").map(each);
  const faults = parsed.flatMap((one) => ("faults" in one ? one.faults : []));
  return faults.length > 0 ? { faults } : { value: parsed.flatMap((one) => ("value" in one ? [one.value] : [])) };
}

function readBlocks(text: string): Parsed<AddressBlocks> {
  const { blocks, invalid } = AddressBlocks.read(text);
  if (invalid.length === 0) return { value: blocks };
  return {
    faults: invalid.map((entry) => ({ text: entry, rule: BLOCK_RULE, fix: BLOCK_FIX })),
  };
}

function readKeys(text: string): readonly KeyObject[] | undefined {
  const keys = text.split(",").map((each) => findSecretKey(each.trim()));
  return keys.every((key) => key !== undefined) ? keys : undefined;
}

function readInteger(text: string, min: number, max: number): number | undefined {
  const value = /^-?[0-9]{1,16}$/.test(text) ? Number(text) : NaN;
  return value >= min && value <= max ? value : undefined;
}

function isWebUrl(text: string): boolean {
  if (!hasScheme(text, WEB)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol);
}

function createUnsetDiagnostic(name: string, rule: string): Diagnostic {
  return {
    code: "E_VARIABLE",
    what: `${name} is not set`,
    where: name,
    fix: `set it in the environment of the process; it must be ${rule}${rule === KEYS_RULE ? `; ${KEY_COMMAND} prints one` : ""}`,
  };
}

const MAX_SHOWN = 80;

/** The text before an @, after a ? or after a = may be a secret. */
function quoteText(text: string): string {
  if (/[@?=]/.test(text)) return "the value (withheld)";
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
