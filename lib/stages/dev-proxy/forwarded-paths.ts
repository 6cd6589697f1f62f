/**
 * The paths that Vite's development server answers: its own (`/@vite/client`, `/@id/…`, `/@fs/…`), the packages of the front end, the
 * opener of its error overlay, and the prefixes of sources. A prefix is compared by whole segments. With a `base`, Vite answers the paths
 * below the base and no others.
 */

const VITES_OWN = ["/@", "/node_modules/", "/__open-in-editor"];

export class ForwardedPaths {
  private readonly prefixes: readonly string[];
  /** The directory of the entry. The application may have routes below the same path, so only files in it count. */
  private readonly sources: string | undefined;

  /** @param base of Vite; it begins and ends with a slash */
  constructor(
    prefixes: readonly string[],
    entry: string | undefined,
    private readonly base: string = "/",
  ) {
    this.prefixes = prefixes.map((prefix) => `/${prefix.replaceAll(/^\/+|\/+$/g, "")}`);
    const directory = entry === undefined ? "" : entry.slice(0, entry.lastIndexOf("/") + 1);
    this.sources = directory === "" ? undefined : `/${directory}`;
  }

  /** @param path raw, without the query */
  includes(path: string): boolean {
    if (this.base !== "/") return path.startsWith(this.base);
    if (VITES_OWN.some((own) => path.startsWith(own))) return true;
    if (this.prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) return true;
    return this.sources !== undefined && path.startsWith(this.sources) && isFile(path);
  }
}

function isFile(path: string): boolean {
  return /\.[a-z0-9]+$/i.test(path);
}
