/**
 * The tags of the front end in a document: from the manifest of a build, or of Vite's development server. They are made once for each
 * component; for a request only the nonce is put in.
 *
 * Of a build, the stylesheets of the imports come first and the page's own last, so that the page's styles win, then the script, then what
 * the browser may fetch at once. A page is a chunk of its own, so its styles and its script are named too: otherwise a page that the server
 * rendered would flash without its styles.
 */
import { BoundedMemo } from "../../http/bounded-memo.js";
import { escapeHtml, scriptJson } from "./html.js";
import type { BuildChunk, Manifest } from "./manifest.js";
import type { AssetTags } from "./page-writer.js";

/** The source of a component in the front end; `undefined` where it has none of its own. */
export type SourceOf = (component: string) => string | undefined;

export interface BuildParts {
  readonly manifest: Manifest;
  readonly entry: string;
  /** The path below which the build is served, without a slash at its end. */
  readonly prefix: string;
  readonly sourceOf: SourceOf;
  /** The import map of the build as JSON, where it has one. */
  readonly importMap: string | undefined;
}

/** HTML around the places of the nonce. */
type Pieces = readonly string[];

/** Stands for the nonce in a tag; no file name of a manifest has it. */
const NONCE = "\u0000";
/** The stylesheet of a build whose styles are in one file. */
const ONE_STYLESHEET = "style.css";

export class BuildTags implements AssetTags {
  readonly version: string;
  private readonly pieces = new BoundedMemo<Pieces>((component) => this.make(component), 1024);

  constructor(private readonly parts: BuildParts) {
    this.version = parts.manifest.version;
  }

  tags(component: string, nonce: string): string {
    return this.pieces.of(component).join(nonce);
  }

  private make(component: string): Pieces {
    const { manifest, entry, importMap, sourceOf } = this.parts;
    const main = manifest.withImports(entry);
    const own = manifest.withImports(sourceOf(component) ?? "");
    const styles = new Set([...main, ...own].flatMap(({ css }) => css));
    const whole = manifest.find(ONE_STYLESHEET);
    if (whole !== undefined) styles.add(whole.file);
    const start = manifest.find(entry);
    const isStyle = start?.file.endsWith(".css") === true;
    if (start !== undefined && isStyle) styles.add(start.file);
    const preloads = new Set([...main, ...own].filter((chunk) => chunk !== start && isScript(chunk)));
    const tags = [
      ...(importMap === undefined ? [] : [`<script${NONCE} type="importmap">${scriptJson(importMap)}</script>`]),
      ...[...styles].map((file) => `<link${NONCE} rel="stylesheet" href="${this.url(file)}"${this.integrity(file)}>`),
      ...(start === undefined || isStyle ? [] : [this.script(start)]),
      ...[...preloads].map((chunk) => this.preload(chunk)),
    ];
    return tags.join("").split(NONCE);
  }

  private script({ file }: BuildChunk): string {
    return `<script${NONCE} type="module" src="${this.url(file)}"${this.integrity(file)}></script>`;
  }

  private preload({ file }: BuildChunk): string {
    return `<link${NONCE} rel="modulepreload" href="${this.url(file)}"${this.integrity(file)}>`;
  }

  private url(file: string): string {
    return escapeHtml(`${this.parts.prefix}/${file}`);
  }

  /** The browser compares the hash only with a file that it fetched by CORS (Subresource Integrity section 3.2). */
  private integrity(file: string): string {
    const integrity = this.parts.manifest.integrityOf(file);
    return integrity === undefined ? "" : ` integrity="${escapeHtml(integrity)}" crossorigin`;
  }
}

function isScript({ file }: BuildChunk): boolean {
  return /\.m?js$/.test(file);
}

export interface DevelopmentParts {
  readonly entry: string;
  /** Whether the components of React keep their state when they are replaced; needs React's plugin of Vite. */
  readonly reactRefresh: boolean;
}

/** React's plugin puts this into pages that Vite serves itself; it must run before the entry. */
const REACT_PREAMBLE =
  'import { injectIntoGlobalHook } from "/@react-refresh";injectIntoGlobalHook(window);' +
  "window.$RefreshReg$ = () => {};window.$RefreshSig$ = () => (type) => type;";

/** The tags of Vite's development server: its client first, then the source. Styles come with the modules. */
export class DevelopmentTags implements AssetTags {
  readonly version = null;
  private readonly pieces: Pieces;

  constructor({ entry, reactRefresh }: DevelopmentParts) {
    const preamble = reactRefresh ? `<script${NONCE} type="module">${REACT_PREAMBLE}</script>` : "";
    const client = `<script${NONCE} type="module" src="/@vite/client"></script>`;
    const source = `<script${NONCE} type="module" src="${escapeHtml(`/${entry}`)}"></script>`;
    this.pieces = `${client}${preamble}${source}`.split(NONCE);
  }

  tags(_component: string, nonce: string): string {
    return this.pieces.join(nonce);
  }
}
