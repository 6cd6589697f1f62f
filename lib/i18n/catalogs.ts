/** Builds the languages from the entries of their catalogs, and finds the faults and gaps of these. */
import type { Diagnostic } from "../errors/diagnostic.js";
import { readEntries, type CatalogEntry, type CatalogFault, type CatalogFile } from "./catalog-entries.js";
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

/** @param faults gets those of the files */
export function buildCatalogs(
  files: readonly CatalogFile[],
  settings: CatalogSettings,
  faults: CatalogFault[],
): Catalogs {
  const byTag = new Map<string, Map<string, CatalogEntry>>();
  for (const file of files) {
    const known = byTag.get(file.tag.toLowerCase()) ?? new Map<string, CatalogEntry>();
    byTag.set(file.tag.toLowerCase(), known);
    for (const entry of readEntries(file, settings.fluent, faults)) addEntry(known, entry, faults);
  }
  for (const entries of byTag.values()) for (const entry of entries.values()) checkEntry(entry, entries, faults);
  const texts = new Map([...byTag].map(([tag, entries]) => [tag, createTexts(entries, settings)]));
  const languages = [...byTag].map(([key, entries]): [string, Language] => {
    const tag = [...entries.values()][0]?.file.tag ?? key;
    const chain = listChain(tag, settings.defaultTag);
    const parts = { tag, texts: mergeMaps(chain, texts), entries: mergeMaps(chain, byTag) };
    return [key, new Language({ ...parts, fluent: settings.fluent, timeZone: settings.timeZone })];
  });
  const entries = [...(byTag.get(settings.defaultTag.toLowerCase())?.values() ?? [])];
  return { languages: new Map(languages), gaps: listGaps(byTag), entries };
}

export function toDiagnostic({ path, line, what }: CatalogFault): Diagnostic {
  const where = `${path}:${line}`;
  return { code: "E_CATALOG", what: `${where}: ${what}`, where, fix: "correct the catalog" };
}

/** The tags in whose catalogs a message is searched. */
function listChain(tag: string, defaultTag: string): readonly string[] {
  return [...new Set([...listShorterTags(tag), ...listShorterTags(defaultTag)])];
}

/** The first tag takes precedence. */
function mergeMaps<V>(
  chain: readonly string[],
  maps: ReadonlyMap<string, ReadonlyMap<string, V>>,
): ReadonlyMap<string, V> {
  return new Map(chain.toReversed().flatMap((tag) => [...(maps.get(tag) ?? [])]));
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

function hasText(entries: Entries, name: string): boolean {
  const [id = "", attribute] = name.split(".");
  const entry = entries.get(id);
  return attribute === undefined ? entry?.hasValue === true : entry?.attributes.includes(attribute) === true;
}

function addFault({ file, line }: CatalogEntry, what: string, faults: CatalogFault[]): void {
  faults.push({ path: file.path, line, what });
}

function createTexts(entries: Entries, { fluent, isolates }: CatalogSettings): ReadonlyMap<string, Text> {
  const all = [...entries.values()];
  const tag = all[0]?.file.tag ?? "en";
  const bundle = new fluent.FluentBundle([tag], { useIsolating: isolates ?? getDirection(tag) === "rtl" });
  const texts = new Map<string, Text>();
  for (const { id, source } of all) {
    bundle.addResource(new fluent.FluentResource(source));
    const message = bundle.getMessage(id);
    if (message === undefined) continue;
    if (message.value !== null) texts.set(id, { bundle, pattern: message.value });
    for (const [name, pattern] of Object.entries(message.attributes)) texts.set(`${id}.${name}`, { bundle, pattern });
  }
  return texts;
}

/** A language has the messages of its shorter tags. Terms are the matter of each language. */
function listGaps(byTag: ReadonlyMap<string, Entries>): readonly Gap[] {
  const all = new Map([...byTag.values()].flatMap((entries) => [...entries]).toReversed());
  return [...byTag.keys()].flatMap((tag) => {
    const has = (id: string): boolean => listShorterTags(tag).some((each) => byTag.get(each)?.has(id) === true);
    const byFile = new Map<string, string[]>();
    for (const [id, { file }] of all) {
      if (id.startsWith("-") || has(id)) continue;
      byFile.set(file.path, [...(byFile.get(file.path) ?? []), id]);
    }
    return [...byFile].map(([file, ids]) => ({ language: tag, file, ids }));
  });
}

/** The declaration of `Messages` as the text of a module: the names of messages with their values. */
export function describeMessages(entries: readonly CatalogEntry[]): string {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const lines = entries
    .filter(({ id }) => !id.startsWith("-"))
    .flatMap((entry) => {
      const names = [...listVariables(entry, byId)].toSorted();
      const values = names.map((name) => `readonly ${JSON.stringify(name)}: string | number | Date`).join("; ");
      const type = names.length === 0 ? "Record<never, never>" : `{ ${values} }`;
      const ids = [...(entry.hasValue ? [entry.id] : []), ...entry.attributes.map((name) => `${entry.id}.${name}`)];
      return ids.map((id) => `    ${JSON.stringify(id)}: ${type};\n`);
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
