/**
 * A program, not a helper: imports the entry point named by its argument in this fresh process and prints, as JSON, what that did.
 * Used by spec/house/entries.spec.ts. It imports nothing of ours beside the entry, and ends only when nothing is left open.
 */

import { Session } from "node:inspector";
import { fileURLToPath } from "node:url";

export interface Loaded {
  /** Packages whose files were parsed, sorted. */
  readonly packages: readonly string[];
  /** Files of our own, from `dist/`, sorted. */
  readonly files: readonly string[];
  /** Global names that came, went or changed, and members of the built-ins that did, such as `Reflect.metadata`. */
  readonly globals: readonly string[];
  /** Listeners that `process` has now and had not before. */
  readonly listeners: readonly string[];
  /** What keeps the process alive that did not before. */
  readonly handles: readonly string[];
  readonly exports: readonly string[];
}

const [, , entry = ""] = process.argv;
wakeLazyParts();
const scripts = watchScripts();
const before = snapshot();
// The entry point is an argument: its names are unknown here.
const exported = Object.keys((await import(entry)) as object);
const after = snapshot();

const loaded: Loaded = {
  packages: packagesOf(scripts),
  files: scripts.filter((path) => path.includes("/dist/lib/")).map((path) => path.slice(path.indexOf("dist/lib/"))),
  globals: changed(before.globals, after.globals),
  listeners: added(before.listeners, after.listeners),
  handles: added(before.handles, after.handles),
  exports: exported,
};
console.log(JSON.stringify(loaded));

/** Node makes some globals and the standard streams at their first use; that use is not a change. */
function wakeLazyParts(): void {
  for (const key of Reflect.ownKeys(globalThis)) if (!String(key).endsWith("Storage")) Reflect.get(globalThis, key);
  process.stdout.fd satisfies number;
  process.stderr.fd satisfies number;
  process.stdin.fd satisfies number;
}

/** Every script that is parsed from now on, whichever loader brings it. */
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

/** The global object, and one and two levels below: `Reflect.metadata`, `Array.prototype.at`. Getters are left alone. */
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

/** What `now` has more of. */
function added(old: readonly string[], now: readonly string[]): readonly string[] {
  const left = [...old];
  return now.filter((name) => {
    const index = left.indexOf(name);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}
