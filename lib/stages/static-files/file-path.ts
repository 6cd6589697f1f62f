/**
 * Maps the path of a request to the path of a file below a root directory, by text alone. Paths that could leave the root, and hidden
 * files, are refused here, before the file system is called. Symbolic links need the file system: `file-store.ts` follows them.
 */
import { decodePart } from "../../endpoints/percent-encoding.js";

/** The only name with a leading dot that is served (RFC 8615). */
const WELL_KNOWN = ".well-known";

/** The decoded path, with a leading slash; `undefined` for a path that names no file. */
export function findFilePath(rawPath: string): string | undefined {
  if (rawPath.charCodeAt(0) !== 0x2f) return undefined;
  const names: string[] = [];
  for (const segment of rawPath.slice(1).split("/")) {
    const name = decodePart(segment);
    if (name === undefined || !isFileName(name)) return undefined;
    // Only as a directory directly below the root. Elsewhere it is hidden like all names with a leading dot.
    if (name.startsWith(".") && !(name === WELL_KNOWN && names.length === 0)) return undefined;
    names.push(name);
  }
  return names.length === 1 && names[0] === WELL_KNOWN ? undefined : `/${names.join("/")}`;
}

function isFileName(name: string): boolean {
  if (name === "" || name.includes("/") || name.includes("\\")) return false;
  // On Windows a colon stands for a drive or an alternate data stream.
  return process.platform !== "win32" || !name.includes(":");
}
