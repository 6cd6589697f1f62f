/**
 * The files of a build that the page of a component needs at once: its stylesheets, the script that starts the front end, and the chunks
 * that this script imports. They are written as tags into the document, and as a header before it.
 *
 * The stylesheets of the imports come first and those of the page last, so that the page's styles win.
 */
import type { BuildChunk, Manifest } from "./manifest.js";

/** The source of a component in the front end; `undefined` if it has no separate source. */
export type SourceOf = (component: string) => string | undefined;

export interface BuildSite {
  readonly manifest: Manifest;
  readonly entry: string;
  /** The path below which the build is served, without a slash at its end. */
  readonly prefix: string;
  readonly findSource: SourceOf;
}

/** Below the build directory. */
export interface BuildFiles {
  readonly styles: readonly string[];
  /** `undefined` if the entry is a stylesheet, or is missing. */
  readonly script: string | undefined;
  readonly imports: readonly string[];
}

/** The stylesheet of a build whose styles are in one file. */
const ONE_STYLESHEET = "style.css";

export function listBuildFiles({ manifest, entry, findSource }: BuildSite, component: string): BuildFiles {
  const entryChunks = manifest.withImports(entry);
  const pageChunks = manifest.withImports(findSource(component) ?? "");
  const styles = new Set([...entryChunks, ...pageChunks].flatMap(({ css }) => css));
  const whole = manifest.find(ONE_STYLESHEET);
  if (whole !== undefined) styles.add(whole.file);
  const start = manifest.find(entry);
  const isStyle = start?.file.endsWith(".css") === true;
  if (start !== undefined && isStyle) styles.add(start.file);
  const chunks = new Set([...entryChunks, ...pageChunks].filter((chunk) => chunk !== start && isScript(chunk)));
  return {
    styles: [...styles],
    script: isStyle ? undefined : start?.file,
    imports: [...chunks].map(({ file }) => file),
  };
}

function isScript({ file }: BuildChunk): boolean {
  return /\.m?js$/.test(file);
}
