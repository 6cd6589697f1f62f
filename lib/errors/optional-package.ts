/**
 * Optional packages: an application installs them only if it imports the entry point that needs them. If the package is missing
 * (`requirePeer`, `expectInstalled`) or has a wrong version (`expectPeer`, `expectClasses`), the import of the entry point fails, and the
 * error names the command that installs the package. The ranges in package.json are wide, so that all other applications may use any version.
 *
 * @example
 * const PEER = { entry: "@stagecraft/framework/cache/redis", name: "ioredis", from: "5.4.1", install: "ioredis@6" };
 * expectPeer(PEER);
 * const { Redis } = requirePeer(PEER) as typeof import("ioredis");
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { FrameworkError } from "./framework-error.js";
import { createSetupError } from "./setup-error.js";

/** A package, and the entry point that needs it. */
export interface Peer {
  readonly entry: string;
  readonly name: string;
  /** The oldest version that works: three numbers with dots between. */
  readonly from: string;
  /** The first later version that this Node cannot run, or that is untried, if there is one. */
  readonly before?: string | undefined;
  /** The argument of `npm install`. */
  readonly install: string;
  /** The module of the package that is loaded; its main module unless set. */
  readonly module?: string;
}

/**
 * Loads a package. Not `await import(…)`, because `require()` refuses a module with a top-level `await`, and so does a bundle in the format
 * of CommonJS. A bundle of that format has `__filename`, and `import.meta` is empty there.
 */
export const requirePackage = createRequire((import.meta as { readonly url?: string }).url ?? __filename);

/** @throws FrameworkError `E_PEER_MISSING`; any other failure of the package as it is */
export function requirePeer(peer: Peer): unknown {
  return findPeer(peer, requirePackage);
}

/**
 * Checks that the package is installed, in a version of the range. It does not load the package: for one that is slow to load, which the
 * first use loads by `requirePeer`.
 *
 * @throws FrameworkError `E_PEER_MISSING`, `E_PEER_VERSION`
 */
export function expectInstalled(peer: Peer): void {
  expectPeer(peer);
  findPeer(peer, requirePackage.resolve);
}

function findPeer({ entry, name, install, module = name }: Peer, find: (module: string) => unknown): unknown {
  try {
    return find(module);
  } catch (cause) {
    throw isMissing(cause, module) ? notInstalledError({ entry, name, install }, cause) : cause;
  }
}

function notInstalledError(
  { entry, name, install }: Pick<Peer, "entry" | "name" | "install">,
  cause: unknown,
): FrameworkError {
  const what = `${entry} needs the package ${name}, which is not installed: npm install ${install}`;
  return createSetupError("E_PEER_MISSING", what, cause);
}

/** True if the package itself is missing. False if it fails while it loads, or if a package that it imports is missing. */
export function isMissing(cause: unknown, name: string): boolean {
  if (!(cause instanceof Error) || !("code" in cause)) return false;
  if (cause.code !== "ERR_MODULE_NOT_FOUND" && cause.code !== "MODULE_NOT_FOUND") return false;
  // Plug'n'Play of Yarn has other messages.
  return (
    cause.message.includes(`'${name}'`) || new RegExp(`^Required package: ${name}(?: |$)`, "m").test(cause.message)
  );
}

/**
 * Checks the version. An unknown version passes: the package is missing, which its import reports, or it is part of a bundle.
 *
 * @throws FrameworkError `E_PEER_VERSION` if the installed version is not in the range
 */
export function expectPeer(peer: Peer, version = findInstalledVersion(peer.name)): void {
  if (version === undefined) return;
  const { from, before } = peer;
  const isTooNew = before !== undefined && !isOlder(version, before);
  if (isTooNew || isOlder(version, from)) throw versionError(peer, version);
}

/**
 * Checks that the package exports the classes that the framework uses: a later release may remove one.
 *
 * @throws FrameworkError `E_PEER_VERSION` if a class is missing
 */
export function expectClasses(
  peer: Peer,
  exported: object,
  classes: readonly string[],
  version = findInstalledVersion(peer.name),
): void {
  const missing = classes.filter((name) => typeof Reflect.get(exported, name) !== "function");
  if (missing.length > 0) throw versionError(peer, version, missing);
}

/** True if `from` or a newer version is installed; false if the version is unknown. */
export function isInstalled(name: string, from: string): boolean {
  const version = findInstalledVersion(name);
  return version !== undefined && !isOlder(version, from);
}

/** Compares three numbers. A pre-release counts as the release that follows it. */
export function isOlder(version: string, from: string): boolean {
  const [found, wanted] = [version, from].map((text) => text.split(/[.+-]/, 3).map(Number));
  for (const index of [0, 1, 2]) {
    const difference = (found?.[index] ?? 0) - (wanted?.[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function versionError(
  { entry, name, from, before, install }: Peer,
  version = "of an unknown version",
  missing?: readonly string[],
): FrameworkError {
  const lack = missing === undefined ? "" : `, which does not export ${missing.join(", ")}`;
  const range =
    before === undefined ? `${from} or newer` : `from ${from} to below ${before} on Node ${process.versions.node}`;
  const what = `${entry} needs ${name} ${range}; installed is ${name} ${version}${lack}: npm install ${install}`;
  return createSetupError("E_PEER_VERSION", what);
}

/** Reads package.json from the folder of the package: not every package exports it. */
function findInstalledVersion(name: string): string | undefined {
  try {
    const main = requirePackage.resolve(name);
    const folder = `/node_modules/${name}/`;
    const end = main.replaceAll("\\", "/").lastIndexOf(folder);
    if (end === -1) return undefined;
    const manifest = readFileSync(`${main.slice(0, end)}${folder}package.json`, "utf8");
    // npm has checked the type of `version`.
    return (JSON.parse(manifest) as { readonly version?: string }).version;
  } catch {
    return undefined;
  }
}
