/**
 * The files of the catalogs: a folder for each language, and in it the files of messages. They are read once, while the application is built.
 * The languages are those of the listing, so no text of a client becomes part of a path.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { causeText } from "../errors/thrown-value.js";
import type { CatalogFault, CatalogFile } from "./catalog-entries.js";
import { isCanonicalTag } from "./language-tag.js";

const MAX_LANGUAGES = 200;
const MAX_FILES = 1000;
/** 1 MiB. */
const MAX_BYTES = 1_048_576;

/** @param faults gets what cannot be read */
export function readCatalogFiles(folder: string | URL, faults: CatalogFault[]): readonly CatalogFile[] {
  const root = resolve(typeof folder === "string" ? folder : fileURLToPath(folder));
  const addFault = (path: string, what: string): void => void faults.push({ path: toShownPath(path), line: 1, what });
  const list = (path: string): readonly string[] => attempt(() => readdirSync(path), path, addFault) ?? [];
  const isFolder = (path: string): boolean => attempt(() => statSync(path).isDirectory(), path, addFault) === true;
  const tags = list(root).filter((name) => !name.startsWith(".") && isFolder(join(root, name)));
  const paths = tags.flatMap((tag) => {
    const names = list(join(root, tag)).filter((name) => name.endsWith(".ftl"));
    if (names.length === 0) addFault(join(root, tag), "the folder has no file *.ftl");
    return names.toSorted().map((name) => ({ tag, path: join(root, tag, name) }));
  });
  if (tags.length > MAX_LANGUAGES || paths.length > MAX_FILES)
    addFault(root, `more than ${MAX_LANGUAGES} languages or ${MAX_FILES} files`);
  for (const tag of tags)
    if (!isCanonicalTag(tag)) addFault(join(root, tag), "the name of the folder is no language tag such as pt-BR");
  return paths
    .filter(({ tag }) => isCanonicalTag(tag))
    .slice(0, MAX_FILES)
    .flatMap(({ tag, path }) => {
      const text = attempt(() => readText(path), path, addFault);
      return text === undefined ? [] : [{ tag, path: toShownPath(path), text }];
    });
}

function readText(path: string): string {
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`the file has more than ${MAX_BYTES} bytes`);
  return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
}

function attempt<T>(work: () => T, path: string, addFault: (path: string, what: string) => void): T | undefined {
  try {
    return work();
  } catch (error) {
    addFault(path, causeText(error));
    return undefined;
  }
}

/** Relative to the working directory where it is below it. */
function toShownPath(path: string): string {
  const short = relative("", path);
  return short === "" || short.startsWith("..") ? path : short;
}
