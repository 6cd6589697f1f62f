/**
 * A program that spec/house/entries.spec.ts runs. It imports the entry points of its arguments in a new process, one after the other, and
 * prints the effects of each import as JSON. It imports no other file of the library, and exits only if the imports left no handle open.
 */
import { Session } from "node:inspector";
import { fileURLToPath } from "node:url";

export interface Loaded {
  /** The packages whose files were loaded, sorted. */
  readonly packages: readonly string[];
  /** The loaded files of the library, from `dist/`, sorted. */
  readonly files: readonly string[];
  /** The global names that were added, removed or changed, also members of built-ins, such as `Reflect.metadata`. */
  readonly globals: readonly string[];
  /** The listeners that were added to `process`. */
  readonly listeners: readonly string[];
  /** The new handles that keep the process alive. */
  readonly handles: readonly string[];
  readonly exports: readonly string[];
}

createLazyGlobals();
const scripts = watchScripts();
const all: Loaded[] = [];
for (const entry of process.argv.slice(2)) all.push(await loadedBy(entry));
console.log(JSON.stringify(all));

async function loadedBy(entry: string): Promise<Loaded> {
  scripts.length = 0;
  const before = snapshot();
  // The entry point is an argument: its names are unknown here.
  const exported = Object.keys((await import(entry)) as object);
  const after = snapshot();
  return {
    packages: packagesOf(scripts),
    files: scripts.filter((path) => path.includes("/dist/lib/")).map((path) => path.slice(path.indexOf("dist/lib/"))),
    globals: changed(before.globals, after.globals),
    listeners: added(before.listeners, after.listeners),
    handles: added(before.handles, after.handles),
    exports: exported,
  };
}

/** Node creates some globals and the standard streams at their first use. This use comes before the first snapshot. */
function createLazyGlobals(): void {
  for (const key of Reflect.ownKeys(globalThis)) if (!String(key).endsWith("Storage")) Reflect.get(globalThis, key);
  process.stdout.fd satisfies number;
  process.stderr.fd satisfies number;
  process.stdin.fd satisfies number;
}

/** Collects the path of every script that is loaded from now on, by `import` or `require`. */
function watchScripts(): string[] {
  const paths: string[] = [];
  const session = new Session();
  session.connect();
  session.on("Debugger.scriptParsed", ({ params: { url } }) => {
    if (url.startsWith("file:")) paths.push(fileURLToPath(url));
    else if (url.startsWith("/")) paths.push(url);
  });
  session.post("Debugger.enable");
  return paths;
}

function packagesOf(paths: readonly string[]): readonly string[] {
  const found = paths.map((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(found.filter((name) => name !== undefined))].toSorted();
}

interface Snapshot {
  readonly globals: ReadonlyMap<string, unknown>;
  readonly listeners: readonly string[];
  readonly handles: readonly string[];
}

function snapshot(): Snapshot {
  return { globals: globals(), listeners: listeners(), handles: process.getActiveResourcesInfo() };
}

function listeners(): readonly string[] {
  return process.eventNames().flatMap((name) => process.rawListeners(name).map(() => String(name)));
}

/** The members of the global object, two levels deep: `Reflect.metadata`, `Array.prototype.at`. Getters are not called. */
function globals(): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [name, value] of membersOf(globalThis, "")) {
    found.set(name, value);
    for (const [inner, member] of membersOf(value, `${name}.`)) {
      found.set(inner, member);
      if (inner.endsWith(".prototype"))
        for (const [deep, method] of membersOf(member, `${inner}.`)) found.set(deep, method);
    }
  }
  return found;
}

function membersOf(value: unknown, prefix: string): readonly (readonly [string, unknown])[] {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return [];
  return Reflect.ownKeys(value).flatMap((key) => {
    const descriptor = Reflect.getOwnPropertyDescriptor(value, key);
    return descriptor !== undefined && "value" in descriptor ? [[prefix + String(key), descriptor.value] as const] : [];
  });
}

function changed(old: ReadonlyMap<string, unknown>, now: ReadonlyMap<string, unknown>): readonly string[] {
  const names = new Set([...old.keys(), ...now.keys()]);
  return [...names]
    .filter((name) => old.has(name) !== now.has(name) || !Object.is(old.get(name), now.get(name)))
    .toSorted();
}

/** The members of `now` that are not in `old`, with their repetitions. */
function added(old: readonly string[], now: readonly string[]): readonly string[] {
  const left = [...old];
  return now.filter((name) => {
    const index = left.indexOf(name);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}
