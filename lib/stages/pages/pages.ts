/**
 * The page protocol of an application, for `.pages(…)`: the shared props, the root document, the front end's assets and the error pages.
 * The layer of the stage is created when the application is built, and an application without `.pages(…)` loads none of it.
 *
 * @example
 * Application.create(LinksModule).pages(new Pages({ entry: "pages/main.tsx", share: { user: (ctx) => userOf(ctx) } }));
 */
import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import type { FrameworkError } from "../../errors/framework-error.js";
import { createSetupError } from "../../errors/setup-error.js";
import { describeThrown } from "../../errors/thrown-value.js";
import { provide, type Binding } from "../../di/provide.js";
import { describeToken } from "../../di/token.js";
import { PAGE_RENDER } from "../../observe/request-span.js";
import { tracing } from "../../tracing/tracing.js";
import { profile } from "../../runtime/profile.js";
import type { Layer } from "../../http/middleware.js";
import { RootDocument, type RenderDocument } from "./document/document.js";
import { readAssets, NO_TAGS, type AssetOptions, type Assets } from "./document/assets.js";
import { PageWriter, type WriterSettings } from "./protocol/page-writer.js";
import { PageRenderer } from "./rendering/page-renderer.js";
import { VitePageRenderer } from "./rendering/vite-page-renderer.js";
import { PrecognitionGuard } from "./protocol/precognition.js";
import { ErrorPagesLayer, type ErrorComponents } from "./error-pages.js";
import type { PagesSite } from "./protocol/inertia-redirect.js";
import { PagesLayer } from "./pages-layer.js";
import { SHARED_NAMES, findInvalidName, type SharedInputs } from "./props/shared-props.js";

export interface PagesOptions extends Partial<AssetOptions> {
  /** The props of every page: constants, or functions of the request. */
  readonly share?: SharedInputs;
  /** The HTML around the page; `new RootDocument()` unless set. */
  readonly document?: RootDocument | RenderDocument;
  /** The version of the front end's assets. A client with another version reloads the page. Unless set, that of the manifest. */
  readonly version?: string;
  /** Whether first documents name their stylesheets and modules in the header `Link` too, in at most 2048 bytes. */
  readonly linkHeader?: boolean;
  /** Whether browsers encrypt the pages in their history. A page may say otherwise. */
  readonly encryptHistory?: boolean;
  /** The components that show errors, by status: `{ 404: "errors/404", "5xx": "errors/failure" }`. They get the prop `status`. */
  readonly errors?: ErrorComponents;
  /** Renders first documents on the server. In development Vite does it, with the newest sources. */
  readonly renderer?: PageRenderer;
  /** Whether a failed render is an error: for tests, which otherwise would not notice that the browser rendered the page. */
  readonly mustRender?: boolean;
}

const NAMES: OptionNames<PagesOptions> = {
  share: true,
  document: true,
  version: true,
  encryptHistory: true,
  errors: true,
  renderer: true,
  mustRender: true,
  entry: true,
  buildDirectory: true,
  prefix: true,
  manifest: true,
  source: true,
  reactRefresh: true,
  linkHeader: true,
  viteBase: true,
};

const log = tracing.target("framework::pages");

const NO_ASSETS: Assets = { tags: NO_TAGS, warning: undefined };

export class Pages {
  /** Runs innermost on each route. @internal */
  readonly routeGuard: Layer = new PrecognitionGuard();
  private readonly options: PagesOptions;
  private cachedAssets: Assets | undefined;
  private cachedWriter: PageWriter | undefined;

  /** @throws FrameworkError `E_OPTION` for an unknown option, `E_PAGES_OPTION` for one of a wrong type */
  constructor(options: PagesOptions = {}) {
    checkOptionNames(options, NAMES, "new Pages({ … })");
    this.options = options;
    checkVersion(options.version);
    checkShared(options.share);
    checkErrors(options.errors);
    checkBase(options.viteBase);
  }

  /** @internal */
  layer(site: PagesSite): Layer {
    return new PagesLayer(this.writer, site);
  }

  private get writer(): PageWriter {
    return (this.cachedWriter ??= this.createWriter());
  }

  /** The source that starts the front end. @internal */
  get entry(): string | undefined {
    return this.options.entry;
  }

  /** The `base` of Vite's development server. @internal */
  get viteBase(): string {
    return this.options.viteBase ?? "/";
  }

  /** Whether a component shows errors. @internal */
  get hasErrorPages(): boolean {
    return Object.keys(this.options.errors ?? {}).length > 0;
  }

  /** The layer around the stages that refuse and the stage that catches unhandled errors. @internal */
  outerLayer(): Layer {
    return new ErrorPagesLayer(this.options.errors ?? {}, this.writer);
  }

  /** Warnings about settings that are allowed but probably a mistake; logged when the application starts. @internal */
  warnings(): readonly string[] {
    const { warning } = this.assets;
    return warning === undefined ? [] : [warning];
  }

  private get assets(): Assets {
    return (this.cachedAssets ??= loadAssets(this.options));
  }

  /** Shut down with the application. @internal */
  bindings(): readonly Binding[] {
    const { renderer } = this;
    return renderer === undefined ? [] : [provide(PageRenderer).useValue(renderer)];
  }

  private get renderer(): PageRenderer | undefined {
    const { renderer } = this.options;
    if (renderer !== undefined && !(renderer instanceof PageRenderer))
      throw wrongOption(`${describeToken(renderer)} is not a PageRenderer`);
    const endpoint = findViteEndpoint();
    return renderer === undefined || endpoint === undefined ? renderer : new VitePageRenderer(endpoint);
  }

  private createServerRender(): WriterSettings["renderOnServer"] {
    const { renderer } = this;
    if (renderer === undefined) return undefined;
    const { mustRender = false } = this.options;
    return async (page, component) => {
      try {
        return await log.span(PAGE_RENDER, { component }).run(() => renderer.render(page));
      } catch (error) {
        if (mustRender) throw error;
        log.warn("page not rendered on the server", describeThrown(error));
        return undefined;
      }
    };
  }

  private createWriter(): PageWriter {
    const {
      version,
      share = {},
      document = new RootDocument(),
      encryptHistory = false,
      linkHeader = false,
    } = this.options;
    const { tags } = this.assets;
    return new PageWriter({
      version: version ?? tags.version,
      share,
      encryptHistory,
      render: toRenderDocument(document),
      assets: tags,
      linkHeader,
      renderOnServer: this.createServerRender(),
    });
  }
}

/** An application without an entry writes the tags of its front end itself, or has none. */
function loadAssets({ entry, ...options }: PagesOptions): Assets {
  if (entry === undefined) return NO_ASSETS;
  if (typeof entry !== "string" || entry === "") throw wrongOption("entry is the source that starts the front end");
  // The name of Vite's endpoint is read here and in the development proxy, and nowhere else.
  return readAssets({ entry, ...options }, { profile, viteIpc: findViteEndpoint() });
}

/** The socket or pipe of Vite's development server. */
function findViteEndpoint(): string | undefined {
  const endpoint = process.env["FRAMEWORK_VITE_IPC"]?.trim() ?? "";
  return profile === "debug" && endpoint !== "" ? endpoint : undefined;
}

function toRenderDocument(document: RootDocument | RenderDocument): RenderDocument {
  if (typeof document === "function") return document;
  if (document instanceof RootDocument) return (body) => document.render(body);
  throw wrongOption(`${describeToken(document)} is not a document: give a RootDocument, or a function of the body`);
}

/** The version travels in a header. */
function checkVersion(version: unknown): void {
  if (version === undefined || (typeof version === "string" && /^[!-~]{1,128}$/.test(version))) return;
  throw wrongOption("version is a text of 1 to 128 visible ASCII characters");
}

function checkShared(share: unknown): void {
  if (share === undefined) return;
  const isTable = typeof share === "object" && share !== null && !Array.isArray(share);
  if (!isTable) throw wrongOption("share is an object of props");
  const bad = findInvalidName(share);
  if (bad !== undefined) throw wrongOption(`the shared prop ${JSON.stringify(bad)} ${SHARED_NAMES}`);
}

/** An absolute URL would send the browser to another port than that of the application. */
function checkBase(base: unknown): void {
  if (base === undefined || (typeof base === "string" && /^\/(?:[\w.~-]+\/)*$/.test(base))) return;
  throw wrongOption('viteBase is a path with a slash at both ends: "/build/"');
}

function checkErrors(errors: unknown): void {
  if (errors === undefined) return;
  const isTable = typeof errors === "object" && errors !== null;
  if (isTable && Object.entries(errors).every(isErrorComponent)) return;
  throw wrongOption('errors names components by status: { 404: "errors/404", "5xx": "errors/failure" }');
}

function isErrorComponent([status, component]: [string, unknown]): boolean {
  return /^[45](?:\d\d|xx)$/.test(status) && typeof component === "string" && component !== "";
}

function wrongOption(what: string): FrameworkError {
  return createSetupError("E_PAGES_OPTION", `new Pages({ … }): ${what}`);
}
