/** Loading a package that is installed only by those who use the driver. */
import { FrameworkError } from "../kernel/errors.js";

/**
 * What a missing peer becomes when its driver is imported: an error that says what to install.
 *
 * @throws FrameworkError `E_PEER_MISSING`; any other failure of the import as it is
 */
export function missingPeer(entry: string, name: string, major: number): (cause: unknown) => never {
  return (cause) => {
    if (!isMissing(cause, name)) throw cause;
    throw new FrameworkError(
      `${entry} needs the package ${name}, which is not installed: npm install ${name}@${major}`,
      {
        code: "E_PEER_MISSING",
        cause,
      },
    );
  };
}

/** The package itself is not there; one that fails on its own, or lacks a part, is another story. */
function isMissing(cause: unknown, name: string): boolean {
  if (!(cause instanceof Error)) return false;
  const { code } = cause as NodeJS.ErrnoException;
  return (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") && cause.message.includes(`'${name}'`);
}
