/**
 * The tags of the front end in a document: from the manifest of a build, or of Vite's development server. They are created once for each
 * component; a request adds its nonce.
 *
 * For a build, the stylesheets come first, then the script, then the chunks that the browser may fetch at once. A page is a separate chunk,
 * so its styles and its script are named too: otherwise a page that the server rendered would appear without its styles for a moment.
 */
import { BoundedMemo } from "../../../http/request/bounded-memo.js";
import { listBuildFiles, type BuildSite } from "./build-files.js";
import { escapeHtml, scriptJson } from "./html.js";
import type { AssetTags } from "../protocol/page-writer.js";
import { createPreloadHeader } from "./preload-header.js";

export interface BuildParts extends BuildSite {
  /** The import map of the build as JSON, where it has one. */
  readonly importMap: string | undefined;
}

/** The HTML between the places of the nonce. */
type Pieces = readonly string[];

/** The placeholder of the nonce. No file name of a manifest contains it. */
const NONCE = "\u0000";
const MAX_COMPONENTS = 1024;

export class BuildTags implements AssetTags {
  readonly version: string;
  private readonly pieces = new BoundedMemo<Pieces>((component) => this.create(component), MAX_COMPONENTS);
  private readonly headers = new BoundedMemo<(nonce: string | undefined) => string>(
    (component) => createPreloadHeader(this.parts, component, this.parts.importMap !== undefined),
    MAX_COMPONENTS,
  );

  constructor(private readonly parts: BuildParts) {
    this.version = parts.manifest.version;
  }

  tags(component: string, nonce: string): string {
    return this.pieces.get(component).join(nonce);
  }

  preloads(component: string, nonce: string | undefined): string {
    return this.headers.get(component)(nonce);
  }

  private create(component: string): Pieces {
    const { styles, script, imports } = listBuildFiles(this.parts, component);
    const { importMap } = this.parts;
    const tags = [
      ...(importMap === undefined ? [] : [`<script${NONCE} type="importmap">${scriptJson(importMap)}</script>`]),
      ...styles.map((file) => `<link${NONCE} rel="stylesheet" href="${this.url(file)}"${this.integrity(file)}>`),
      ...(script === undefined
        ? []
        : [`<script${NONCE} type="module" src="${this.url(script)}"${this.integrity(script)}></script>`]),
      ...imports.map((file) => `<link${NONCE} rel="modulepreload" href="${this.url(file)}"${this.integrity(file)}>`),
    ];
    return tags.join("").split(NONCE);
  }

  private url(file: string): string {
    return escapeHtml(`${this.parts.prefix}/${file}`);
  }

  /** The browser compares the hash only with a file that it fetched by CORS (Subresource Integrity section 3.2). */
  private integrity(file: string): string {
    const integrity = this.parts.manifest.findIntegrity(file);
    return integrity === undefined ? "" : ` integrity="${escapeHtml(integrity)}" crossorigin`;
  }
}

export interface DevelopmentParts {
  readonly entry: string;
  /** Whether the components of React keep their state when they are replaced; needs React's plugin of Vite. */
  readonly reactRefresh: boolean;
  /** The `base` of Vite, with a slash at both ends. */
  readonly base: string;
}

/** React's plugin puts this into pages that Vite serves itself; it must run before the entry. */
const reactPreamble = (base: string): string =>
  `import { injectIntoGlobalHook } from ${scriptJson(JSON.stringify(`${base}@react-refresh`))};injectIntoGlobalHook(window);` +
  "window.$RefreshReg$ = () => {};window.$RefreshSig$ = () => (type) => type;";

/** The tags of Vite's development server: its client first, then the source. Styles come with the modules. */
export class DevelopmentTags implements AssetTags {
  readonly version = null;
  private readonly pieces: Pieces;

  constructor({ entry, reactRefresh, base }: DevelopmentParts) {
    const preamble = reactRefresh ? `<script${NONCE} type="module">${reactPreamble(base)}</script>` : "";
    const client = `<script${NONCE} type="module" src="${escapeHtml(`${base}@vite/client`)}"></script>`;
    const source = `<script${NONCE} type="module" src="${escapeHtml(base + entry)}"></script>`;
    this.pieces = `${client}${preamble}${source}`.split(NONCE);
  }

  tags(_component: string, nonce: string): string {
    return this.pieces.join(nonce);
  }

  /** Sources are not loaded in advance. */
  preloads(): string {
    return "";
  }
}
