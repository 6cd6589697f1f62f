/**
 * From a request path to the path of a file below a root, on paper: whatever could mean another place than it says is refused here,
 * before the file system is asked. Links, which only the file system knows of, are looked at in `static-library.ts`.
 */
import { decoded } from "./percent-encoding.js";

/** The one name with a dot in front that is served (RFC 8615). */
const WELL_KNOWN = ".well-known";

/** The decoded path, beginning with a slash; `undefined` for one that names no file. */
export function staticPath(raw: string): string | undefined {
  if (raw.charCodeAt(0) !== 0x2f) return undefined;
  const names: string[] = [];
  for (const segment of raw.slice(1).split("/")) {
    const name = decoded(segment);
    if (name === undefined || !isFileName(name)) return undefined;
    // Only as a directory at the top; anywhere else it is hidden like all others.
    if (name.startsWith(".") && !(name === WELL_KNOWN && names.length === 0)) return undefined;
    names.push(name);
  }
  return names.length === 1 && names[0] === WELL_KNOWN ? undefined : `/${names.join("/")}`;
}

function isFileName(name: string): boolean {
  if (name === "" || name.includes("/") || name.includes("\\")) return false;
  // A drive, or a stream of another file.
  return process.platform !== "win32" || !name.includes(":");
}
