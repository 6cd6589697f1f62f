/**
 * The public API as one text: the names of each entry point with their signatures, and the types behind them that no entry point
 * exports. A change of the text is a change for users.
 *
 * @example
 * const text = await publicApi({ "@stagecraft/framework": "dist/lib/entries/main.d.ts" }, (path) => readFileSync(path, "utf8"));
 */
import { posix } from "node:path";
import { format } from "prettier";
import { type Declaration, type DeclarationFile, readDeclarations } from "./declaration-file.js";

const WIDTH = 120;

const INTRODUCTION = `The names of each entry point with their signatures, from the declaration files.
\`npm run api\` compares this text with the build, \`npm run api -- --write\` rewrites it.
`;

/** A declaration, by its file and the name there. */
interface Found {
  readonly file: string;
  readonly name: string;
  readonly declaration: Declaration;
}

/**
 * @param entries the declaration file of each entry point
 * @param read returns the text of a declaration file
 * @throws Error naming an export without a declaration
 */
export async function publicApi(
  entries: Readonly<Record<string, string>>,
  read: (path: string) => string,
): Promise<string> {
  const api = new PublicApi(read);
  const parts = [INTRODUCTION];
  for (const [entry, file] of Object.entries(entries)) parts.push(await api.entry(entry, file));
  return [...parts, await api.behind()].join("\n");
}

class PublicApi {
  private readonly files = new Map<string, DeclarationFile>();
  /** The entry point that shows a declaration first. */
  private readonly shown = new Map<string, string>();
  private readonly mentioned: Found[] = [];

  constructor(private readonly read: (path: string) => string) {}

  async entry(entry: string, file: string): Promise<string> {
    const names = [...this.load(file).exports.keys()].toSorted(byCodeUnits);
    const rows = [];
    for (const name of names) rows.push(await this.row(entry, name, file));
    return `\n== ${entry}\n\n${rows.join("")}`;
  }

  /** The declarations that the shown ones mention, and what these mention. */
  async behind(): Promise<string> {
    const found = new Map<string, Found>();
    for (const each of this.mentioned) {
      for (const next of this.mentionsOf(each)) {
        if (this.shown.has(keyOf(next)) || found.has(keyOf(next))) continue;
        found.set(keyOf(next), next);
        this.mentioned.push(next);
      }
    }
    const keys = [...found.keys()].toSorted(byCodeUnits);
    const rows = await Promise.all(keys.map((key) => shownText(found.get(key)?.declaration.text ?? "")));
    return `\n== behind them, not exported\n\n${rows.join("")}`;
  }

  private async row(entry: string, name: string, file: string): Promise<string> {
    const { from, name: there } = this.load(file).exports.get(name) ?? { from: "", name };
    if (there === "*") return `${name}: everything of ${from}\n`;
    const found = this.find(there, from === "" ? file : resolve(file, from));
    if (found === undefined) throw new Error(`${entry} exports ${name}, which ${from} does not declare`);
    const first = this.shown.get(keyOf(found));
    if (first !== undefined) return `${name}: as in ${first}\n`;
    this.shown.set(keyOf(found), entry);
    this.mentioned.push(found);
    const renamed = found.name === name ? "" : `${name}: `;
    return renamed + (await shownText(found.declaration.text));
  }

  /** Follows imports and re-exports to the declaration. */
  private find(name: string, path: string): Found | undefined {
    const file = this.load(path);
    const declaration = file.declarations.get(name);
    if (declaration !== undefined) return { file: path, name, declaration };
    const origin = file.exports.get(name) ?? file.imports.get(name);
    if (origin?.from === "" && origin.name !== name) return this.find(origin.name, path);
    return origin?.from.startsWith(".") === true ? this.find(origin.name, resolve(path, origin.from)) : undefined;
  }

  private mentionsOf({ file, name, declaration }: Found): readonly Found[] {
    const { declarations, imports } = this.load(file);
    const names = [...declaration.mentions].filter((each) => each !== name);
    return names.flatMap((each) => {
      const isKnown = declarations.has(each) || imports.get(each)?.from.startsWith(".") === true;
      return isKnown ? (this.find(each, file) ?? []) : [];
    });
  }

  private load(path: string): DeclarationFile {
    const known = this.files.get(path) ?? readDeclarations(this.read(path));
    this.files.set(path, known);
    return known;
  }
}

/** The same text for the same declaration, however the compiler breaks its lines. */
async function shownText(text: string): Promise<string> {
  const formatted = await format(text, { parser: "typescript", printWidth: WIDTH });
  return formatted.replaceAll(/\n{2,}/g, "\n");
}

function keyOf({ file, name }: Found): string {
  return `${file}#${name}`;
}

function resolve(file: string, specifier: string): string {
  return posix.join(posix.dirname(file), specifier).replace(/\.js$/, ".d.ts");
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
