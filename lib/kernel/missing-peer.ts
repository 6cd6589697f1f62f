/**
 * Loading a package that only those install who use the entry point that needs it.
 *
 * @example
 * const { Redis } = await import("ioredis").catch(missingPeer("@stagecraft/framework/cache/redis", "ioredis", "ioredis@6"));
 */
import { FrameworkError } from "./errors.js";

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
