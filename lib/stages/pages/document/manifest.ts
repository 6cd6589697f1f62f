/**
 * Vite's build manifest, checked: the files that the build has for the front end's sources, and the files that each of them needs. Every
 * name becomes a part of a URL of this site, so a name that leads elsewhere is refused. It is read once, when the application is built.
 */
import { createHash } from "node:crypto";
import { FrameworkError } from "../../../errors/framework-error.js";
import { hasControlCharacter } from "../../../http/response/field-value.js";

/** A file of the build. */
export interface BuildChunk {
  /** Below the build directory. */
  readonly file: string;
  readonly css: readonly string[];
  /** The keys of the chunks that it imports. */
  readonly imports: readonly string[];
  /** For subresource integrity, if a plugin of Vite has added it. */
  readonly integrity: string | undefined;
}

export class Manifest {
  private readonly integrityByFile = new Map<string, string>();

  private constructor(
    private readonly chunks: ReadonlyMap<string, BuildChunk>,
    /** The hash of the parsed manifest with its keys in order, because build machines write them in different orders. */
    readonly version: string,
  ) {
    for (const { file, integrity } of chunks.values())
      if (integrity !== undefined) this.integrityByFile.set(file, integrity);
  }

  /** @throws FrameworkError `E_MANIFEST` for text that is not a manifest */
  static parse(text: string, path: string): Manifest {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      throw malformed(path, "it is not JSON");
    }
    if (!isTable(parsed)) throw malformed(path, "it is not an object");
    const chunks = new Map(Object.entries(parsed).map(([key, record]) => [key, parseChunk(path, key, record)]));
    return new Manifest(chunks, computeHash(parsed));
  }

  /** The chunk of a source: `pages/main.tsx`. */
  find(key: string): BuildChunk | undefined {
    return this.chunks.get(key);
  }

  findIntegrity(file: string): string | undefined {
    return this.integrityByFile.get(file);
  }

  /** The chunk and its static imports, direct and indirect, each once. Imported chunks come first. */
  withImports(key: string): readonly BuildChunk[] {
    const found = new Map<string, BuildChunk>();
    const visited = new Set<string>();
    // No recursion: a build may have a chain of thousands of chunks, which would not fit on the stack.
    const waiting: { readonly key: string; isDone: boolean }[] = [{ key, isDone: false }];
    for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
      const chunk = this.chunks.get(step.key);
      if (chunk === undefined) continue;
      if (step.isDone) found.set(step.key, chunk);
      if (step.isDone || visited.has(step.key)) continue;
      visited.add(step.key);
      waiting.push({ key: step.key, isDone: true });
      for (const inner of chunk.imports.toReversed()) waiting.push({ key: inner, isDone: false });
    }
    return [...found.values()];
  }
}

function parseChunk(path: string, key: string, record: unknown): BuildChunk {
  if (!isTable(record)) throw malformed(path, `${JSON.stringify(key)} is not an object`);
  const { file, css = [], imports = [], integrity } = record;
  const isRight =
    isFile(file) && isList(css, isFile) && isList(imports, isText) && (integrity === undefined || isText(integrity));
  if (!isRight) throw malformed(path, `${JSON.stringify(key)} has no file of the build, or a list with another value`);
  return { file, css, imports, integrity };
}

/** A path below the build directory, without a character that has a meaning in a URL. No URL can hold half a surrogate pair. */
function isFile(value: unknown): value is string {
  if (typeof value !== "string" || /[\\:?#%"<>\p{Surrogate}]/u.test(value) || hasControlCharacter(value)) return false;
  return value.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isList<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isItem);
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function computeHash(manifest: Readonly<Record<string, unknown>>): string {
  const sorted = JSON.stringify(manifest, (_key, value: unknown) =>
    isTable(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
  return createHash("sha256").update(sorted).digest("hex").slice(0, 32);
}

function malformed(path: string, why: string): FrameworkError {
  return new FrameworkError(`${path} is not a manifest of Vite: ${why}; run npx vite build again`, {
    code: "E_MANIFEST",
  });
}
