/**
 * A program that exports an inferred value of each name of an entry point: the result type of each function, and the type of each member
 * of a class or interface. Its declaration file has to name every type behind them. The names are read from `docs/api.txt`.
 */

/** The parts of `docs/api.txt`: the text below the heading of each entry point. */
export function partsOfApi(api: string): ReadonlyMap<string, string> {
  const parts = api.split(/^== /m).slice(1, -1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf("\n")), part]));
}

const HELPERS = `
declare function called<A extends readonly unknown[], R>(f: (...given: A) => R): (...given: A) => R;
declare function member<A extends readonly unknown[], R>(value: (...given: A) => R): (...given: A) => R;
declare function member<T>(value: T): [T];
`;

const DECLARATION = /^(?:(\w+): )?(?:abstract )?(class|interface|function|const) (\w+)(.*)$/;
const MEMBER = /^ {2}(static )?(?:get |readonly |abstract )*(\w+)(?=[?<(:])/;
const NO_MEMBERS = new Set(["constructor", "protected", "private", "set", "new"]);

/**
 * @param part the text of one entry point
 * @param above the entry points that a program with this one uses too: their types can be named
 */
export function resultsProgram(entry: string, part: string, above: readonly string[]): string {
  const exported = new Map<string, string>();
  let declaring: { readonly name: string; readonly type: string } | undefined;
  for (const line of part.split("\n")) {
    const [, alias, kind = "", declared = "", rest = ""] = DECLARATION.exec(line) ?? [];
    const name = alias ?? declared;
    if (/^\S/.test(line))
      declaring = /class|interface/.test(kind) ? { name, type: `api.${name}${anyArguments(rest)}` } : undefined;
    if (kind === "function") exported.set(name, `called(api.${name})`);
    if (kind === "const") exported.set(name, `[api.${name}] as const`);
    const [, isStatic, key = ""] = MEMBER.exec(line) ?? [];
    if (declaring === undefined || key === "" || NO_MEMBERS.has(key)) continue;
    const value = `(owner: ${declaring.type}) => owner.${key}`;
    exported.set(`${declaring.name}_${key}`, isStatic === undefined ? value : `member(api.${declaring.name}.${key})`);
  }
  const lines = [...exported].map(([name, value]) => `export const of_${name} = ${value};`);
  const imports = above.map((each) => `import {} from "${each}";`);
  return [...imports, `import * as api from "${entry}";`, HELPERS, ...lines, ""].join("\n");
}

/** `<any, any>` for a head with two type parameters. */
function anyArguments(head: string): string {
  const list = head.startsWith("<") ? parametersOf(head) : 0;
  return list === 0 ? "" : `<${Array.from({ length: list }, () => "any").join(", ")}>`;
}

function parametersOf(head: string): number {
  let depth = 0;
  let count = 1;
  for (const [at, sign] of head.split("").entries()) {
    if ("<([{".includes(sign)) depth += 1;
    else if (")]}".includes(sign) || (sign === ">" && head[at - 1] !== "=")) depth -= 1;
    else if (sign === "," && depth === 1) count += 1;
    if (depth === 0) return count;
  }
  return count;
}
