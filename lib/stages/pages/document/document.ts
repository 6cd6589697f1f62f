/**
 * The HTML document of a first visit. The framework creates its parts: the metadata, the tags of the front end's assets, the page object in
 * a script, and the element that the front end mounts. A root document joins them. Write a custom root document for other attributes or
 * elements; every inline script in it needs `body.nonceAttribute()`.
 *
 * @example
 * new Pages({
 *   document: (body) => `<!DOCTYPE html><html lang="de"><head>${body.head}${body.assets}</head><body>${body.app}</body></html>`,
 * });
 */
import type { PageLocale } from "./document-language.js";
import { escapeHtml, scriptJson } from "./html.js";

/** The id of the element that the front end mounts, and the name of the script with the page object. */
const ROOT_ID = "app";

export interface DocumentParts {
  readonly component: string;
  /** The page object as JSON text. */
  readonly page: string;
  readonly nonce: string | undefined;
  readonly head: string;
  readonly assets: string;
  /** The markup of a page that the server rendered. */
  readonly markup: string | undefined;
  readonly language?: PageLocale | undefined;
}

/** The parts of one document. They are HTML and need no escaping. */
export class DocumentBody {
  /** @internal */
  constructor(private readonly parts: DocumentParts) {}

  get component(): string {
    return this.parts.component;
  }

  /** The language that the page was translated to, and its direction, for `lang` and `dir`; `undefined` without one. */
  get language(): PageLocale | undefined {
    return this.parts.language;
  }

  /** Charset, viewport, the nonce for Vite, title and metadata. */
  get head(): string {
    const nonce = this.nonceAttribute();
    const forVite = nonce === "" ? "" : `<meta property="csp-nonce"${nonce}>`;
    return `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${forVite}${this.parts.head}`;
  }

  /** The stylesheets and scripts of the front end. */
  get assets(): string {
    return this.parts.assets;
  }

  /** The page object in a script, and the root element behind it. */
  get app(): string {
    const { page, markup } = this.parts;
    const script = `<script${this.nonceAttribute()} data-page="${ROOT_ID}" type="application/json">${scriptJson(page)}</script>`;
    if (markup === undefined) return `${script}<div id="${ROOT_ID}"></div>`;
    return `${script}<div data-server-rendered="true" id="${ROOT_ID}">${markup}</div>`;
  }

  /** ` nonce="…"` with a leading space, to be placed directly after the name of a tag; `""` without a nonce. */
  nonceAttribute(): string {
    const { nonce } = this.parts;
    return nonce === undefined ? "" : ` nonce="${nonce}"`;
  }
}

export interface RootDocumentOptions {
  /** The language of a document for which no other was negotiated; `en` unless set. */
  readonly lang?: string;
  /** HTML for the end of the `<head>`: icons, fonts. Scripts in it get no nonce. */
  readonly head?: string;
  /** The class of the `<body>`. */
  readonly bodyClass?: string;
}

export type RenderDocument = (body: DocumentBody) => string;

/** The document that the framework writes. */
export class RootDocument {
  private readonly attributes: string;
  private readonly middle: string;

  constructor(options: RootDocumentOptions = {}) {
    const { lang = "en", head = "", bodyClass } = options;
    this.attributes = `lang="${escapeHtml(lang)}"`;
    this.middle = `${head}</head><body${bodyClass === undefined ? "" : ` class="${escapeHtml(bodyClass)}"`}>`;
  }

  render(body: DocumentBody): string {
    const { language } = body;
    // A tag has letters, digits and hyphens alone.
    const attributes = language === undefined ? this.attributes : `lang="${language.tag}" dir="${language.dir}"`;
    return `<!DOCTYPE html><html ${attributes}><head>${body.head}${body.assets}${this.middle}${body.app}</body></html>`;
  }
}
