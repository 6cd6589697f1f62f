/**
 * The routes of `.apiDocs(…)`: the OpenAPI document, and a page that shows it. They are routes like those of the application, behind the same
 * stages. Without the call they do not exist.
 */
import type { Diagnostic } from "../errors/diagnostic.js";
import { FrameworkError } from "../errors/framework-error.js";
import { checkOptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import { joinPaths } from "../endpoints/filled-path.js";
import { Route, type RouteDescriptor } from "../routing/route.js";
import { Routes } from "../routing/routes.js";
import type { CsrfTokenNames } from "../stages/csrf/csrf-config.js";
import { DocsPage, findViewer, VIEWER_FILES } from "./docs-page.js";
import type { OpenApiDocument, OpenApiOptions } from "./document.js";
import { checkOpenApiOptions, describeRoutes, OPEN_API_OPTIONS, type PipelineFacts } from "./open-api.js";
import { PreparedFile } from "./prepared-file.js";

export interface ApiDocsOptions extends OpenApiOptions {
  /** The path of the document, by default `/openapi.json`. Neither path has captures. */
  readonly path?: string;
  /** The path of the page, by default `/docs`; `false` for none. The page needs the package `swagger-ui-dist`. */
  readonly page?: string | false;
}

const WHERE = "Application.create().apiDocs(…)";

export class ApiDocs {
  readonly diagnostics: Diagnostic[] = [];
  readonly routes: Routes;
  private document: OpenApiDocument | undefined;
  private file: PreparedFile | undefined;
  private csrf: CsrfTokenNames | undefined;

  /** @throws FrameworkError `E_OPTION` for an unknown option, and for a path that is none */
  constructor(private readonly options: ApiDocsOptions = {}) {
    checkOptionNames(options, { ...OPEN_API_OPTIONS, path: true, page: true }, ".apiDocs");
    checkOpenApiOptions(options, ".apiDocs");
    const { path = "/openapi.json", page = "/docs" } = options;
    checkPath("path", path);
    if (page !== false) checkPath("page", page);
    this.routes = new Routes([
      Route.get(path, (ctx) => this.getFile().respond(ctx)),
      ...(page === false ? [] : this.createPageRoutes(page, path)),
    ]);
  }

  /** The document, after `describe`. @internal */
  getDocument(): OpenApiDocument | undefined {
    return this.document;
  }

  /** Describes the routes of the application. Returns the faults of the document. */
  describe(
    descriptors: readonly RouteDescriptor[],
    pipeline: PipelineFacts,
    csrf: CsrfTokenNames | undefined,
  ): readonly Diagnostic[] {
    this.csrf = csrf;
    const paths = new Set(this.routes.descriptors().map(({ path }) => path));
    const { document, diagnostics } = describeRoutes(
      descriptors.filter(({ path }) => !paths.has(path)),
      this.options,
      pipeline,
    );
    this.document = document;
    // The routes report the faults of their contracts.
    return [...this.diagnostics, ...diagnostics.filter(({ code }) => code !== "E_CONTRACT")];
  }

  /** Sets the title where the options have none. */
  nameAfter(application: string): void {
    const { info = {} } = this.options;
    if (this.document !== undefined && info.title === undefined)
      this.document = { ...this.document, info: { ...this.document.info, title: application } };
  }

  private getFile(): PreparedFile {
    return (this.file ??= new PreparedFile(Buffer.from(JSON.stringify(this.document)), "application/json"));
  }

  private createPageRoutes(path: string, document: string): readonly Route[] {
    try {
      const page = new DocsPage(path, document, findViewer());
      return [
        Route.get(path, () => page.render(this.document?.info.title ?? "", this.csrf)),
        ...VIEWER_FILES.map((name) => Route.get(joinPaths(path, name), (ctx) => page.send(name, ctx))),
      ];
    } catch (error) {
      if (!(error instanceof FrameworkError)) throw error;
      const fix = "install the package, or leave the page out: .apiDocs({ page: false })";
      this.diagnostics.push({ code: error.code, what: error.message, where: WHERE, fix });
      return [];
    }
  }
}

/** The page names the document by its path, so neither has captures. */
function checkPath(name: string, path: unknown): void {
  if (typeof path === "string" && !path.includes("{")) return;
  throw createSetupError("E_OPTION", `.apiDocs: ${name} is ${valueText(path)}: give a path without captures`);
}
