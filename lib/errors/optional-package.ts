/**
 * Loading a package that only those install who use the entry point that needs it.
 *
 * @example
 * const { Redis } = await import("ioredis").catch(missingPeer("@stagecraft/framework/cache/redis", "ioredis", "ioredis@6"));
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { FrameworkError } from "./framework-error.js";

/**
 * What a missing peer becomes when its entry point is imported: an error that says what to install.
 *
 * @param install what to hand to `npm install`
 * @throws FrameworkError `E_PEER_MISSING`; any other failure of the import as it is
 */
export function missingPeer(entry: string, name: string, install: string): (cause: unknown) => never {
  return (cause) => {
    if (!isMissing(cause, name)) throw cause;
    throw new FrameworkError(`${entry} needs the package ${name}, which is not installed: npm install ${install}`, {
      code: "E_PEER_MISSING",
      cause,
    });
  };
}

/** The package itself is not there; one that fails on its own, or lacks a part, is another story. */
export function isMissing(cause: unknown, name: string): boolean {
  if (!(cause instanceof Error) || !("code" in cause)) return false;
  return (
    (cause.code === "ERR_MODULE_NOT_FOUND" || cause.code === "MODULE_NOT_FOUND") && cause.message.includes(`'${name}'`)
  );
}

/**
 * The version of a package that stands beside the framework, checked when the entry point that needs it is imported. The ranges in
 * package.json are wide, so that an application which never imports the entry point can be installed beside any version.
 *
 * @example
 * expectPeer({ entry: "@stagecraft/framework/cache/redis", name: "ioredis", from: "5.4.1", install: "ioredis@6" });
 */
export interface Peer {
  readonly entry: string;
  readonly name: string;
  /** The oldest version that works: three numbers with dots between. */
  readonly from: string;
  /** The oldest version after it that this Node cannot run, where there is one. */
  readonly before?: string | undefined;
  /** What to hand to `npm install`. */
  readonly install: string;
}

/**
 * Lets a version pass that cannot be found out: the package is missing, or part of a bundle.
 *
 * @throws FrameworkError `E_PEER_VERSION` where the installed version is not in the range
 */
export function expectPeer(peer: Peer, version = installedVersion(peer.name)): void {
  if (version === undefined) return;
  const { from, before } = peer;
  const isTooNew = before !== undefined && !isOlder(version, before);
  if (isTooNew || isOlder(version, from)) throw new UnfitPeerError(peer, version);
}

/**
 * Guards against a later release that no longer has what is used of it.
 *
 * @throws FrameworkError `E_PEER_VERSION` where one of the classes is not exported
 */
export function expectClasses(
  peer: Peer,
  found: object,
  classes: readonly string[],
  version = installedVersion(peer.name),
): void {
  const missing = classes.filter((name) => typeof Reflect.get(found, name) !== "function");
  if (missing.length > 0) throw new UnfitPeerError(peer, version, missing);
}

class UnfitPeerError extends FrameworkError {
  constructor(
    { entry, name, from, before, install }: Peer,
    version = "of an unknown version",
    missing?: readonly string[],
  ) {
    const lack = missing === undefined ? "" : `, which does not export ${missing.join(", ")}`;
    const range =
      before === undefined ? `${from} or newer` : `from ${from} to below ${before} on Node ${process.versions.node}`;
    super(`${entry} needs ${name} ${range}; installed is ${name} ${version}${lack}: npm install ${install}`, {
      code: "E_PEER_VERSION",
    });
  }
}

/** Whether this version or a newer one is known to be installed. */
export function isInstalled(name: string, from: string): boolean {
  const version = installedVersion(name);
  return version !== undefined && !isOlder(version, from);
}

/** Read from the folder of the package: not every package exports its package.json. */
function installedVersion(name: string): string | undefined {
  try {
    const main = fileURLToPath(import.meta.resolve(name));
    const folder = `/node_modules/${name}/`;
    const end = main.replaceAll("\\", "/").lastIndexOf(folder);
    if (end === -1) return undefined;
    const manifest = readFileSync(`${main.slice(0, end)}${folder}package.json`, "utf8");
    // npm has checked its shape.
    return (JSON.parse(manifest) as { readonly version?: string }).version;
  } catch {
    return undefined;
  }
}

/** A pre-release counts as the release it leads to. */
export function isOlder(version: string, from: string): boolean {
  const [found, wanted] = [version, from].map((text) => text.split(/[.+-]/, 3).map(Number));
  for (const index of [0, 1, 2]) {
    const difference = (found?.[index] ?? 0) - (wanted?.[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
