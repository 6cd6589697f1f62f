/**
 * The entries of a catalog: its messages and terms, each with its line, its source and what it refers to. The parser of the package skips
 * text that is no entry in silence. So each entry is parsed alone, and a line without an effect on it is a fault.
 */
import type { FluentPackage } from "./fluent-package.js";

/** A file of a language. */
export interface CatalogFile {
  readonly tag: string;
  /** As messages name it: `locales/de/links.ftl`. */
  readonly path: string;
  readonly text: string;
}

export interface CatalogEntry {
  /** The name of a message; of a term with its hyphen. */
  readonly id: string;
  readonly file: CatalogFile;
  /** From 1. */
  readonly line: number;
  readonly source: string;
  /** The entries that it shows: `name`, `-term`, `name.attribute`. */
  readonly references: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
  /** Its variables, those of what it refers to left out. */
  readonly variables: ReadonlySet<string>;
  readonly hasValue: boolean;
  readonly attributes: readonly string[];
}

export interface CatalogFault {
  readonly path: string;
  readonly line: number;
  readonly what: string;
}

type ParsedEntries = InstanceType<FluentPackage["FluentResource"]>["body"];

const START = /^-?[a-zA-Z][\w-]* *=/;
const BLANK_OR_COMMENT = /^(?: *|#{1,3}(?: .*)?)$/;

/** @param faults gets the text that is no entry */
export function readEntries(
  file: CatalogFile,
  { FluentResource }: FluentPackage,
  faults: CatalogFault[],
): readonly CatalogEntry[] {
  const parse = (lines: readonly string[]): ParsedEntries => new FluentResource(lines.join("\n")).body;
  const addFault = (line: number, what: string): void => void faults.push({ path: file.path, line, what });
  const [head = [], ...blocks] = splitBlocks(file.text);
  const junk = head.findIndex((line) => !BLANK_OR_COMMENT.test(line));
  if (junk >= 0) addFault(junk + 1, NO_ENTRY);
  let line = head.length + 1;
  return blocks.flatMap((block) => {
    const start = line;
    line += block.length;
    const lines = dropComments(block);
    const [parsed, ...more] = parse(lines);
    const isTerm = parsed?.id.startsWith("-") === true;
    if (parsed === undefined || more.length > 0 || (isTerm && parsed.value === null)) {
      addFault(start, isTerm ? "a term has a value" : NO_ENTRY);
      return [];
    }
    const unread = countReadLines(lines, parse);
    if (unread < lines.length) addFault(start + unread, NO_ENTRY);
    const { id, value, attributes } = parsed;
    const parts = { id, hasValue: value !== null, attributes: Object.keys(attributes) };
    return [
      { ...parts, ...listParts([value, ...Object.values(attributes)]), file, line: start, source: lines.join("\n") },
    ];
  });
}

/** The names of its texts: its own if it has a value, and `name.attribute` of each attribute. None of a term, which only messages show. */
export function listTextNames({ id, hasValue, attributes }: CatalogEntry): readonly string[] {
  if (id.startsWith("-")) return [];
  return [...(hasValue ? [id] : []), ...attributes.map((name) => `${id}.${name}`)];
}

const NO_ENTRY = "the text is no message of Fluent";

/** The lines of each entry, with what follows it; first the lines before the first entry. */
function splitBlocks(text: string): readonly (readonly string[])[] {
  const blocks: string[][] = [[]];
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    if (START.test(line)) blocks.push([]);
    blocks.at(-1)?.push(line);
  }
  return blocks;
}

function dropComments(block: readonly string[]): readonly string[] {
  return block.slice(0, block.findLastIndex((line) => !BLANK_OR_COMMENT.test(line)) + 1);
}

/** The number of lines up to the last one that changes the entry. */
function countReadLines(lines: readonly string[], parse: (lines: readonly string[]) => ParsedEntries): number {
  const whole = JSON.stringify(parse(lines));
  const hasEffect = (count: number): boolean => JSON.stringify(parse(lines.slice(0, count))) !== whole;
  if (lines.length === 1 || hasEffect(lines.length - 1)) return lines.length;
  let count = 1;
  while (hasEffect(count)) count++;
  while (BLANK_OR_COMMENT.test(lines[count] ?? "x")) count++;
  return count;
}

/** Collects the names in a parsed entry, whose nodes are plain objects. */
function listParts(entry: unknown): Pick<CatalogEntry, "references" | "functions" | "variables"> {
  const parts = { references: new Set<string>(), functions: new Set<string>(), variables: new Set<string>() };
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { type, name, attr } = node as { readonly type?: unknown; readonly name?: string; readonly attr?: string };
    const whole = `${type === "term" ? "-" : ""}${name}${attr === undefined || attr === null ? "" : `.${attr}`}`;
    if (type === "mesg" || type === "term") parts.references.add(whole);
    else if (type === "func") parts.functions.add(whole);
    else if (type === "var") parts.variables.add(whole);
    for (const member of Object.values(node)) visit(member);
  };
  visit(entry);
  return parts;
}
