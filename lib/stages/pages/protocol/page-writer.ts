/**
 * Writes a page as the response: it resolves the props, reads the flash, and creates the JSON or the document. The page stage uses it for
 * the pages that handlers return, and the stage around it for error pages.
 */
import type { Context } from "../../../http/request/context.js";
import type { Exchange } from "../../../http/request/exchange.js";
import type { HeadCompleter, ResponseHead } from "../../../http/response/response-head.js";
import { HTML, JSON_TYPE } from "../../../http/response/media-type.js";
import { isPromise } from "../../../http/middleware.js";
import { profile } from "../../../runtime/profile.js";
import { tracing } from "../../../tracing/tracing.js";
import { CspNonce } from "../../security-headers/csp-nonce.js";
import { FlashPort, NO_FLASH, type FlashContent } from "../../session/flash-port.js";
import { PageContractRegistry } from "../contract-registry.js";
import { DocumentLanguage } from "../document/document-language.js";
import { DocumentBody, type RenderDocument } from "../document/document.js";
import { headTags } from "../document/head-metadata.js";
import { getHistory } from "./history.js";
import { getShownUrl } from "./inertia-redirect.js";
import { mergeErrors, mergeFlash, serializePage } from "./page-object.js";
import type { PageRequest } from "./page-request.js";
import type { RenderedPage } from "../rendering/page-renderer.js";
import type { Page } from "../page.js";
import { resolveProps, type PropTable, type ResolvedProps } from "../props/props-resolver.js";
import { mergeHead } from "../document/rendered-head.js";
import { mergeProps, getSharedProps } from "../props/shared-props.js";

/** The stylesheets and scripts of the front end. */
export interface AssetTags {
  /** The version of the assets; `null` if they have none. */
  readonly version: string | null;
  /** The tags for the page of a component. @param nonce the attribute with a leading space, or `""` */
  tags(component: string, nonce: string): string;
  /** The value of the header `Link` for the page of a component, or `""`. @param nonce without one `undefined` */
  preloads(component: string, nonce: string | undefined): string;
}

export interface WriterSettings {
  readonly version: string | null;
  readonly share: PropTable;
  readonly encryptHistory: boolean;
  readonly render: RenderDocument;
  readonly assets: AssetTags;
  /** Whether documents name their assets in the header `Link` too. */
  readonly linkHeader: boolean;
  /** Renders the page on the server. It resolves to `undefined` if the browser has to render the page. */
  readonly renderOnServer: ((page: string, component: string) => Promise<RenderedPage | undefined>) | undefined;
}

/** One try to show an error as a page. */
export interface ErrorAttempt {
  /** Whether the page has the shared props. */
  readonly isShared: boolean;
  readonly isEnded: boolean;
}

const log = tracing.target("framework::pages");

const NO_PROPS: PropTable = Object.freeze({});

/** Browsers would restore the stored JSON of a page on "back", in the place of the document and in spite of `Vary`. */
const JSON_HEAD = ["X-Inertia", "true", "Cache-Control", "no-store"];

/** Not for an error that a stage further out puts in the place of the page. */
const JSON_PAGE: HeadCompleter = {
  complete({ inferredType }: Exchange, head: ResponseHead): void {
    if (inferredType === JSON_TYPE) head.addMissing(JSON_HEAD);
  },
};

export class PageWriter {
  constructor(private readonly settings: WriterSettings) {}

  get version(): string | null {
    return this.settings.version;
  }

  /** @throws what a prop throws, also as a rejection */
  write(ctx: Context, page: Page, visit: PageRequest): void | Promise<void> {
    return this.start(ctx, page, visit, undefined);
  }

  /** Like `write`, but replaces a response that is already decided. Nothing is written after the attempt has ended. */
  writeError(ctx: Context, page: Page, visit: PageRequest, attempt: ErrorAttempt): void | Promise<void> {
    return this.start(ctx, page, visit, attempt);
  }

  private start(ctx: Context, page: Page, visit: PageRequest, attempt: ErrorAttempt | undefined): void | Promise<void> {
    const shared = attempt?.isShared === false ? NO_PROPS : getSharedProps(ctx, this.settings.share);
    const names = Object.keys(shared);
    const declared = names.length === 0 ? page.props : mergeProps(shared, page.props);
    const resolved = resolveProps(ctx, visit, page.component, declared);
    const writing = new Writing(ctx, page, visit, names, attempt);
    return isPromise(resolved)
      ? resolved.then((props) => this.withFlash(writing, props))
      : this.withFlash(writing, resolved);
  }

  private withFlash(writing: Writing, resolved: ResolvedProps): void | Promise<void> {
    const flash = takeFlash(writing);
    return isPromise(flash)
      ? flash.then((left) => this.respond(writing, resolved, left))
      : this.respond(writing, resolved, flash);
  }

  private respond(writing: Writing, resolved: ResolvedProps, flash: FlashContent): void | Promise<void> {
    const { ctx, visit } = writing;
    if (writing.isTooLate) return undefined;
    const json = this.serialize(writing, resolved, flash);
    if (visit.isInertia) {
      ctx.setBody(json, JSON_TYPE);
      ctx.completeHeadWith(JSON_PAGE);
      return undefined;
    }
    const { renderOnServer } = this.settings;
    if (renderOnServer === undefined) return this.respondWithDocument(writing, json, undefined);
    return renderOnServer(json, writing.page.component).then((rendered) =>
      this.respondWithDocument(writing, json, rendered),
    );
  }

  private serialize({ ctx, page, visit, sharedProps }: Writing, resolved: ResolvedProps, flash: FlashContent): string {
    const { settings } = page;
    const history = getHistory(ctx, flash.marks);
    const text = serializePage({
      component: page.component,
      props: resolved.props,
      errors: mergeErrors(flash.errors, settings.errors, visit.errorBag),
      url: getShownUrl(ctx),
      version: this.settings.version,
      encryptHistory: settings.encryptsHistory ?? this.settings.encryptHistory,
      clearHistory: settings.clearsHistory || history.clears,
      preserveFragment: settings.keepsFragment || history.keepsFragment,
      flash: mergeFlash(flash, settings.flash),
      sharedProps,
      metadata: resolved.metadata,
    });
    if (profile === "debug") checkContract(ctx, page, visit, text);
    return text;
  }

  private respondWithDocument(writing: Writing, json: string, rendered: RenderedPage | undefined): void {
    if (writing.isTooLate) return;
    const { ctx, page } = writing;
    const nonce = CspNonce.find(ctx);
    const { component } = page;
    const attribute = nonce?.attribute() ?? "";
    const { head = {} } = page.settings;
    const body = new DocumentBody({
      component,
      page: json,
      nonce: nonce?.value,
      head: mergeHead(headTags(head, component, rendered?.head), rendered, head.title !== undefined, attribute),
      assets: this.settings.assets.tags(component, attribute),
      markup: rendered?.markup,
      language: DocumentLanguage.find(ctx),
    });
    ctx.setBody(this.settings.render(body), HTML);
    if (this.settings.linkHeader) addLinks(ctx, this.settings.assets.preloads(component, nonce?.value));
  }
}

/** A page that is being written. */
class Writing {
  constructor(
    readonly ctx: Context,
    readonly page: Page,
    readonly visit: PageRequest,
    readonly sharedProps: readonly string[],
    private readonly attempt: ErrorAttempt | undefined,
  ) {}

  /** Another stage has sent a response, or the client has left, while the props were resolved. */
  get isTooLate(): boolean {
    const { ctx, attempt } = this;
    if (ctx.headIsSent || ctx.isClientGone) return true;
    return attempt === undefined ? ctx.isAbandoned : attempt.isEnded;
  }
}

/** The check reads the JSON that the browser gets, not the values of the handler. */
function checkContract(ctx: Context, { component }: Page, { partialComponent }: PageRequest, text: string): void {
  const registry = PageContractRegistry.find(ctx);
  if (registry === undefined) return;
  const { props } = JSON.parse(text) as { readonly props: PropTable };
  const misfit = registry.findMisfit(component, props, partialComponent !== component);
  if (misfit !== undefined) log.warn("props do not fit the contract", { component, misfit });
}

/** An error page leaves the flash for the next page, and so does a page that a browser loads in advance. */
function takeFlash({ ctx, visit }: Writing): FlashContent | Promise<FlashContent> {
  if (visit.isPrefetch || ctx.raw.statusCode >= 400) return NO_FLASH;
  return FlashPort.find(ctx)?.take() ?? NO_FLASH;
}

/** A handler may have set other links. */
function addLinks({ raw }: Context, links: string): void {
  if (links !== "") raw.appendHeader("Link", links);
}
