/**
 * Stage layer of the page protocol, the server half of Inertia: turns a returned page into an HTML document, or into JSON for a visit of
 * the Inertia client, tells a client with old assets to reload, and mends the redirects that the client could not follow.
 */
import { answerThrown } from "../../http/failures/answer-thrown.js";
import type { Context } from "../../http/request/context.js";
import { BadRequestError } from "../../errors/framework-error.js";
import { StageLayer, type Run } from "../../http/middleware.js";
import { Varying } from "../../http/response/vary.js";
import { External } from "./protocol/external.js";
import { leadBackWithErrors } from "./protocol/form-errors.js";
import { leaveHistoryMarks } from "./protocol/history.js";
import { answerConflict, completeRedirect, shownUrl, type PagesSite } from "./protocol/inertia-redirect.js";
import { readPageRequest, setVisit, type PageRequest } from "./protocol/page-request.js";
import type { PageWriter } from "./protocol/page-writer.js";
import { Page } from "./page.js";

const VARY = new Varying("X-Inertia");

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
      const visit = this.visitOf(ctx);
      if (visit === undefined) return undefined;
      const result = inner(ctx);
      return result === undefined ? this.answer(ctx, visit) : result.then(() => this.answer(ctx, visit));
    };
  }

  /** The visit, if the request goes on. The version is checked before the handler, whose work would be wasted for an old client. */
  private visitOf(ctx: Context): PageRequest | undefined {
    try {
      const visit = readPageRequest(ctx.incoming.headers);
      setVisit(ctx, visit);
      if (!this.isOutdated(ctx, visit)) return visit;
      answerConflict(ctx, { "X-Inertia-Location": shownUrl(ctx), "X-Inertia-Version": this.writer.version ?? "" });
    } catch (error) {
      if (!(error instanceof BadRequestError)) throw error;
      answerThrown(ctx, error);
    }
    return undefined;
  }

  /** A server without a version cannot know that the assets of the client are old. */
  private isOutdated(ctx: Context, { isInertia, version }: PageRequest): boolean {
    return isInertia && ctx.method === "GET" && this.writer.version !== null && version !== this.writer.version;
  }

  private answer(ctx: Context, visit: PageRequest): void | Promise<void> {
    if (!ctx.mayChange || ctx.headIsSent || ctx.isWrittenByHand) return undefined;
    const { deferred } = ctx;
    if (deferred instanceof Page) {
      ctx.deferred = undefined;
      return this.answerPage(ctx, deferred, visit);
    }
    if (deferred instanceof External) {
      ctx.deferred = undefined;
      deferred.answer(ctx, visit.isInertia);
    } else if (visit.isInertia) {
      this.mend(ctx, visit);
    }
    if (isRedirect(ctx)) leaveHistoryMarks(ctx);
    return undefined;
  }

  private mend(ctx: Context, visit: PageRequest): void {
    try {
      leadBackWithErrors(ctx, visit, this.site);
      completeRedirect(ctx, visit, this.site);
    } catch (thrown) {
      answerThrown(ctx, thrown);
    }
  }

  /** A prop that throws is answered as a handler that throws. */
  private answerPage(ctx: Context, page: Page, visit: PageRequest): void | Promise<void> {
    try {
      const result = this.writer.write(ctx, page, visit);
      return result?.then(undefined, (thrown: unknown) => answerThrown(ctx, thrown));
    } catch (thrown) {
      answerThrown(ctx, thrown);
      return undefined;
    }
  }
}

function isRedirect({ raw }: Context): boolean {
  return (
    (raw.statusCode >= 300 && raw.statusCode < 400) || (raw.statusCode === 409 && raw.hasHeader("X-Inertia-Location"))
  );
}
