/** Builds the languages from the entries of their catalogs, and finds the faults and gaps of these. */
import type { Diagnostic } from "../errors/diagnostic.js";
import {
  listTextNames,
  readEntries,
  type CatalogEntry,
  type CatalogFault,
  type CatalogFile,
} from "./catalog-entries.js";
import type { FluentPackage } from "./fluent-package.js";
import { Language, type Text } from "./language.js";
import { getDirection, listShorterTags } from "./language-tag.js";

export interface CatalogSettings {
  readonly fluent: FluentPackage;
  readonly defaultTag: string;
  readonly timeZone: string;
  /** Unset: only in languages that are written from right to left. */
  readonly isolates: boolean | undefined;
}

/** Messages that other languages have. */
export interface Gap {
  readonly language: string;
  /** Where the other language has them. */
  readonly file: string;
  readonly ids: readonly string[];
}

export interface Catalogs {
  /** By the tag in lower case. */
  readonly languages: ReadonlyMap<string, Language>;
  readonly gaps: readonly Gap[];
  /** The entries of the default language. */
  readonly entries: readonly CatalogEntry[];
}

type Entries = ReadonlyMap<string, CatalogEntry>;

/** What one language has itself. */
interface Catalog {
  readonly tag: string;
  readonly entries: Entries;
  readonly texts: ReadonlyMap<string, Text>;
}

type CatalogsByTag = ReadonlyMap<string, Catalog>;

/** @param faults gets those of the files */
export function buildCatalogs(
  files: readonly CatalogFile[],
  settings: CatalogSettings,
  faults: CatalogFault[],
): Catalogs {
  const tags = [...new Set(files.map(({ tag }) => tag))];
  const all = tags.map((tag) => buildCatalog(tag, files, settings, faults));
  const byTag = new Map(all.map((catalog) => [catalog.tag.toLowerCase(), catalog]));
  // A language without a message is not offered: its responses would have the texts of another one.
  const offered = all.filter(({ entries }) => entries.size > 0);
  const languages = offered.map(({ tag }): [string, Language] => {
    const chain = listChain(tag, settings.defaultTag).flatMap((each) => byTag.get(each) ?? []);
    const parts = {
      tag,
      texts: mergeMaps(chain.map(({ texts }) => texts)),
      entries: mergeMaps(chain.map(({ entries }) => entries)),
    };
    return [tag.toLowerCase(), new Language({ ...parts, fluent: settings.fluent, timeZone: settings.timeZone })];
  });
  const entries = [...(byTag.get(settings.defaultTag.toLowerCase())?.entries.values() ?? [])];
  return { languages: new Map(languages), gaps: listGaps(byTag), entries };
}

function buildCatalog(
  tag: string,
  files: readonly CatalogFile[],
  settings: CatalogSettings,
  faults: CatalogFault[],
): Catalog {
  const entries = new Map<string, CatalogEntry>();
  for (const file of files)
    if (file.tag === tag)
      for (const entry of readEntries(file, settings.fluent, faults)) addEntry(entries, entry, faults);
  for (const entry of entries.values()) checkEntry(entry, entries, faults);
  const texts = createTexts(tag, entries, settings);
  for (const entry of entries.values())
    for (const name of listTextNames(entry)) checkText(entry, texts.get(name), faults);
  return { tag, entries, texts };
}

export function toDiagnostic({ path, line, what }: CatalogFault): Diagnostic {
  const where = `${path}:${line}`;
  return { code: "E_CATALOG", what: `${where}: ${what}`, where, fix: "correct the catalog" };
}

/** The tags in whose catalogs a message is searched. */
function listChain(tag: string, defaultTag: string): readonly string[] {
  return [...new Set([...listShorterTags(tag), ...listShorterTags(defaultTag)])];
}

/** The first map takes precedence. */
function mergeMaps<V>(maps: readonly ReadonlyMap<string, V>[]): ReadonlyMap<string, V> {
  return new Map(maps.toReversed().flatMap((map) => [...map]));
}

function addEntry(known: Map<string, CatalogEntry>, entry: CatalogEntry, faults: CatalogFault[]): void {
  const first = known.get(entry.id);
  if (first === undefined) known.set(entry.id, entry);
  else addFault(entry, `${entry.id} is in ${first.file.path}:${first.line} too`, faults);
}

/** What would show `{name}` to a visitor. */
function checkEntry(entry: CatalogEntry, entries: Entries, faults: CatalogFault[]): void {
  for (const name of entry.functions)
    if (name !== "NUMBER" && name !== "DATETIME") addFault(entry, `${entry.id} calls the unknown ${name}()`, faults);
  for (const name of entry.references)
    if (!hasText(entries, name)) addFault(entry, `${entry.id} refers to ${name}, which the language lacks`, faults);
}

/**
 * What would show `{???}` to a visitor: messages that show each other in a circle, too many of them, and options that no number or date has.
 * A reference to nothing is found above.
 */
function checkText(entry: CatalogEntry, text: Text | undefined, faults: CatalogFault[]): void {
  if (text === undefined) return;
  const errors: Error[] = [];
  // No text of variables alone fails for a number, and the first number loads the data of `Intl`, which is slow.
  const value = entry.functions.size + entry.references.size === 0 ? "1" : 1;
  const values = Object.fromEntries([...entry.variables].map((name) => [name, value]));
  // Without a value a plural has its default.
  for (const each of [values, {}]) text.bundle.formatPattern(text.pattern, each, errors);
  const error = errors.find((each) => !(each instanceof ReferenceError));
  if (error !== undefined) addFault(entry, `${entry.id} cannot be formatted: ${error.message}`, faults);
}

function hasText(entries: Entries, name: string): boolean {
  const [id = "", attribute] = name.split(".");
  const entry = entries.get(id);
  return attribute === undefined ? entry?.hasValue === true : entry?.attributes.includes(attribute) === true;
}

function addFault({ file, line }: CatalogEntry, what: string, faults: CatalogFault[]): void {
  faults.push({ path: file.path, line, what });
}

function createTexts(tag: string, entries: Entries, { fluent, isolates }: CatalogSettings): ReadonlyMap<string, Text> {
  const bundle = new fluent.FluentBundle([tag], { useIsolating: isolates ?? getDirection(tag) === "rtl" });
  const texts = new Map<string, Text>();
  for (const { id, source } of entries.values()) {
    bundle.addResource(new fluent.FluentResource(source));
    const message = bundle.getMessage(id);
    if (message === undefined) continue;
    if (message.value !== null) texts.set(id, { bundle, pattern: message.value });
    for (const [name, pattern] of Object.entries(message.attributes)) texts.set(`${id}.${name}`, { bundle, pattern });
  }
  return texts;
}

/** A language has the messages of its shorter tags. Terms are the matter of each language. */
function listGaps(byTag: CatalogsByTag): readonly Gap[] {
  /** Of the first catalog with the name. */
  const files = new Map<string, string>();
  for (const { entries } of byTag.values())
    for (const entry of entries.values())
      for (const name of listTextNames(entry)) if (!files.has(name)) files.set(name, entry.file.path);
  return [...byTag].flatMap(([key, { tag }]) => {
    const has = (name: string): boolean => listShorterTags(key).some((each) => byTag.get(each)?.texts.has(name));
    const byFile = new Map<string, string[]>();
    for (const [name, file] of files) if (!has(name)) byFile.set(file, [...(byFile.get(file) ?? []), name]);
    return [...byFile].map(([file, ids]) => ({ language: tag, file, ids }));
  });
}

/** The declaration of `Messages` as the text of a module: the names of messages with their values. */
export function describeMessages(entries: readonly CatalogEntry[]): string {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const lines = entries.flatMap((entry) => {
    const names = [...listVariables(entry, byId)].toSorted();
    const values = names.map((name) => `readonly ${JSON.stringify(name)}: string | number | Date`).join("; ");
    const type = names.length === 0 ? "Record<never, never>" : `{ ${values} }`;
    return listTextNames(entry).map((id) => `    ${JSON.stringify(id)}: ${type};\n`);
  });
  const body = lines.toSorted().join("");
  return `export {};\n\ndeclare module "@stagecraft/framework/i18n" {\n  interface Messages {\n${body}  }\n}\n`;
}

/** With those of the messages that it shows. A term has other values. */
function listVariables(
  { references, variables }: CatalogEntry,
  byId: ReadonlyMap<string, CatalogEntry>,
  seen = new Set<string>(),
): ReadonlySet<string> {
  const all = new Set(variables);
  for (const name of references) {
    const entry = byId.get(name.replace(/\..*/, ""));
    if (entry === undefined || name.startsWith("-") || seen.has(name)) continue;
    for (const each of listVariables(entry, byId, seen.add(name))) all.add(each);
  }
  return all;
}
