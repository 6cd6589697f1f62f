/**
 * Stage layer of the page protocol, the server half of Inertia. It sends a returned page as an HTML document, or as JSON for a visit of the
 * Inertia client. It tells a client with old assets to reload, and replaces the redirects that the client cannot follow.
 */
import { respondToThrown } from "../../http/failures/thrown-response.js";
import type { Context } from "../../http/request/context.js";
import { BadRequestError } from "../../errors/framework-error.js";
import { StageLayer, type Run } from "../../http/middleware.js";
import { VaryCompleter } from "../../http/response/vary.js";
import { External } from "./protocol/external.js";
import { redirectBackWithErrors } from "./protocol/form-errors.js";
import { storeHistoryMarks } from "./protocol/history.js";
import { respondWithConflict, completeRedirect, getShownUrl, type PagesSite } from "./protocol/inertia-redirect.js";
import { readPageRequest, type PageRequest } from "./protocol/page-request.js";
import type { PageWriter } from "./protocol/page-writer.js";
import { Page } from "./page.js";

const VARY = new VaryCompleter("X-Inertia");

export class PagesLayer extends StageLayer {
  constructor(
    private readonly writer: PageWriter,
    private readonly site: PagesSite,
  ) {
    super();
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      ctx.completeHeadWith(VARY);
      const visit = this.readVisit(ctx);
      if (visit === undefined) return undefined;
      const result = inner(ctx);
      return result === undefined ? this.respond(ctx, visit) : result.then(() => this.respond(ctx, visit));
    };
  }

  /**
   * The visit; `undefined` once a response is decided. The version is checked before the handler, whose work would be wasted for an old
   * client.
   */
  private readVisit(ctx: Context): PageRequest | undefined {
    try {
      const visit = readPageRequest(ctx.incoming.headers);
      if (!this.isOutdated(ctx, visit)) return visit;
      respondWithConflict(ctx, {
        "X-Inertia-Location": getShownUrl(ctx),
        "X-Inertia-Version": this.writer.version ?? "",
      });
    } catch (error) {
      if (!(error instanceof BadRequestError)) throw error;
      respondToThrown(ctx, error);
    }
    return undefined;
  }

  /** A server without a version cannot know that the assets of the client are old. */
  private isOutdated(ctx: Context, { isInertia, version }: PageRequest): boolean {
    return isInertia && ctx.method === "GET" && this.writer.version !== null && version !== this.writer.version;
  }

  private respond(ctx: Context, visit: PageRequest): void | Promise<void> {
    if (!ctx.mayChange || ctx.headIsSent || ctx.isWrittenByHand) return undefined;
    const { deferred } = ctx;
    if (deferred instanceof Page) {
      ctx.deferred = undefined;
      return this.respondWithPage(ctx, deferred, visit);
    }
    if (deferred instanceof External) {
      ctx.deferred = undefined;
      deferred.respond(ctx, visit.isInertia);
    } else if (visit.isInertia) {
      this.completeResponse(ctx, visit);
    }
    if (isRedirect(ctx)) storeHistoryMarks(ctx);
    return undefined;
  }

  private completeResponse(ctx: Context, visit: PageRequest): void {
    try {
      redirectBackWithErrors(ctx, visit, this.site);
      completeRedirect(ctx, visit, this.site);
    } catch (thrown) {
      respondToThrown(ctx, thrown);
    }
  }

  /** An error of a prop is handled like an error of the handler. */
  private respondWithPage(ctx: Context, page: Page, visit: PageRequest): void | Promise<void> {
    try {
      const result = this.writer.write(ctx, page, visit);
      return result?.then(undefined, (thrown: unknown) => respondToThrown(ctx, thrown));
    } catch (thrown) {
      respondToThrown(ctx, thrown);
      return undefined;
    }
  }
}

function isRedirect({ raw }: Context): boolean {
  return (
    (raw.statusCode >= 300 && raw.statusCode < 400) || (raw.statusCode === 409 && raw.hasHeader("X-Inertia-Location"))
  );
}
