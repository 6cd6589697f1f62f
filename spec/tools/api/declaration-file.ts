/**
 * One `.d.ts` file as data: what it declares, imports and exports. TypeScript 7 has no API for JavaScript; Prettier's parser reads the
 * text. Comments and private members are left out, because users of a package cannot depend on them.
 */
import { parsers } from "prettier/plugins/typescript";

/** A node of the syntax tree, as far as this file reads it. */
interface Node {
  readonly type: string;
  readonly range: readonly [number, number];
  readonly [key: string]: unknown;
}

/** A name of another file; `*` is the whole file. */
export interface Origin {
  readonly from: string;
  readonly name: string;
}

export interface Declaration {
  /** Without `export` and `declare`; one text for each overload. */
  readonly text: string;
  /** Every identifier in the text: the names of types, and harmless others. */
  readonly mentions: ReadonlySet<string>;
}

export interface DeclarationFile {
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** Local names of imports. */
  readonly imports: ReadonlyMap<string, Origin>;
  /** Exported names; the `from` of a declaration of the file itself is "". */
  readonly exports: ReadonlyMap<string, Origin>;
}

export function readDeclarations(text: string): DeclarationFile {
  // Prettier does not publish the type of the tree.
  const tree = parsers.typescript.parse(text, {} as never) as {
    readonly body: readonly Node[];
    readonly comments: readonly Node[];
  };
  const declarations = new Map<string, Declaration>();
  const imports = new Map<string, Origin>();
  const exports = new Map<string, Origin>();
  for (const node of tree.body) {
    const declared = isNode(node["declaration"]) ? node["declaration"] : node;
    for (const name of namesOf(declared)) {
      const known = declarations.get(name);
      const found = declarationOf(declared, text, tree.comments);
      declarations.set(name, known === undefined ? found : merged(known, found));
      if (declared !== node) exports.set(name, { from: "", name });
    }
    if (node.type === "ImportDeclaration")
      for (const [name, origin] of linksOf(node, "local")) imports.set(name, origin);
    if (node.type.startsWith("Export"))
      for (const [name, origin] of linksOf(node, "exported")) exports.set(name, origin);
  }
  return { declarations, imports, exports };
}

function merged(one: Declaration, other: Declaration): Declaration {
  return { text: `${one.text}\n${other.text}`, mentions: new Set([...one.mentions, ...other.mentions]) };
}

/** The names that a statement declares; a statement that declares several constants has several. */
function namesOf(node: Node): readonly string[] {
  if (!/^(?:Class|Function|Variable|TS.*)Declaration$|^TSDeclareFunction$/.test(node.type)) return [];
  const ids = Array.isArray(node["declarations"]) ? node["declarations"].map(({ id }) => id as unknown) : [node["id"]];
  return ids.flatMap((id) => (isNode(id) && typeof id["name"] === "string" ? [id["name"]] : []));
}

/** Each specifier of an import or export with the name that it takes on this side. */
function linksOf(node: Node, side: "local" | "exported"): readonly (readonly [string, Origin])[] {
  const source = node["source"];
  const from = isNode(source) ? String(source["value"]) : "";
  if (node.type === "ExportAllDeclaration") return [[nameOf(node["exported"]) ?? "*", { from, name: "*" }]];
  const specifiers = (node["specifiers"] ?? []) as readonly Node[];
  return specifiers.map((specifier) => {
    const there = nameOf(side === "local" ? specifier["imported"] : specifier["local"]) ?? "*";
    return [nameOf(specifier[side]) ?? "", { from, name: there }];
  });
}

function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  return String(node["name"] ?? node["value"]);
}

function declarationOf(node: Node, text: string, comments: readonly Node[]): Declaration {
  const left = [...comments, ...privateMembersOf(node)].map(({ range }) => range);
  const mentions = new Set<string>();
  walk(node, (inner) => {
    if (inner.type === "Identifier" && !isWithin(inner.range, left)) mentions.add(String(inner["name"]));
  });
  return { text: withoutRanges(text, node.range, left).replace(/^declare /, ""), mentions };
}

/** A private constructor stays: without it, the class could be constructed. */
function privateMembersOf(node: Node): readonly Node[] {
  const found: Node[] = [];
  walk(node, (inner) => {
    const key = inner["key"];
    const isPrivate = inner["accessibility"] === "private" || (isNode(key) && key.type === "PrivateIdentifier");
    if (isPrivate && inner["kind"] !== "constructor") found.push(inner);
  });
  return found;
}

function withoutRanges(text: string, [start, end]: Node["range"], left: readonly Node["range"][]): string {
  let remaining = "";
  let at = start;
  for (const [from, to] of left.toSorted(([a], [b]) => a - b)) {
    if (from < at || from >= end) continue;
    remaining += text.slice(at, from);
    at = to;
  }
  return remaining + text.slice(at, end);
}

function isWithin([start, end]: Node["range"], ranges: readonly Node["range"][]): boolean {
  return ranges.some(([from, to]) => from <= start && end <= to);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "range" in value;
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? (value as readonly unknown[]) : [value])
      if (isNode(child)) walk(child, visit);
  }
}
