/**
 * The layer around every stage that refuses: it shows an error as a page if the application names a component for the status, and if the
 * visitor reads pages and not problems. A response with a body of the application stays, and so does the problem of a CSRF refusal.
 *
 * A visitor reads pages if the request is the Inertia client's, or if its `Accept` names `text/html`, as browsers do. Programs that accept
 * anything get the problem.
 */
import { describeThrown } from "../../errors/thrown-value.js";
import type { Context } from "../../http/request/context.js";
import { StageLayer, type Run } from "../../http/middleware.js";
import { findRefusal } from "../../http/failures/refuse.js";
import { VaryCompleter } from "../../http/response/vary.js";
import { OVERDUE, within } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { readPageRequest, type PageRequest } from "./protocol/page-request.js";
import type { PageWriter } from "./protocol/page-writer.js";
import { Page } from "./page.js";
import { markPrecognition } from "./protocol/precognition.js";

/** A status, or a class of statuses. The component of a status takes precedence over that of its class. */
export type ErrorStatus = `${4 | 5}xx` | number;

/** The component for an error. It gets the prop `status`. */
export type ErrorComponents = Readonly<Partial<Record<ErrorStatus, string>>>;

const log = tracing.target("framework::pages");
const VARY = new VaryCompleter("Accept, X-Inertia");
/** The time limit for the shared props of an error page, in milliseconds: they may need the part that has failed. */
const MAX_WAIT_MS = 1000;

export class ErrorPagesLayer extends StageLayer {
  constructor(
    private readonly components: ErrorComponents,
    private readonly writer: PageWriter,
  ) {
    super();
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      markPrecognition(ctx);
      const result = inner(ctx);
      return result === undefined ? this.show(ctx) : result.then(() => this.show(ctx));
    };
  }

  private show(ctx: Context): void | Promise<void> {
    const { statusCode } = ctx.raw;
    if (statusCode < 400 || ctx.headIsSent || ctx.isWrittenByHand || ctx.isClientGone) return undefined;
    const component = this.components[statusCode] ?? this.components[statusCode < 500 ? "4xx" : "5xx"];
    if (component === undefined || !isReplaceable(ctx)) return undefined;
    ctx.completeHeadWith(VARY);
    // A body would replace a status that only Node's response has by 200.
    ctx.setStatus(statusCode);
    const visit = findPageVisit(ctx);
    if (visit === undefined) return undefined;
    return this.write(ctx, Page.of(component, { status: statusCode }), visit);
  }

  private async write(ctx: Context, page: Page, visit: PageRequest): Promise<void> {
    if (await this.attempt(ctx, page, visit, true)) return;
    await this.attempt(ctx, page, visit, false);
  }

  /** Whether the page is written. Shared props may need the part that has failed, so the second attempt has none. */
  private async attempt(ctx: Context, page: Page, visit: PageRequest, isShared: boolean): Promise<boolean> {
    const attempt = { isShared, isEnded: false };
    try {
      const written = Promise.resolve(this.writer.writeError(ctx, page, visit, attempt));
      if ((await within(ctx.clock, MAX_WAIT_MS, written)) === OVERDUE) throw new Error("it was not ready in time");
      return true;
    } catch (thrown) {
      log.warn("error page failed", { component: page.component, ...describeThrown(thrown) });
      return false;
    } finally {
      attempt.isEnded = true;
    }
  }
}

/** Whether the body of the response comes from the framework: it is a problem, or there is none. */
function isReplaceable(ctx: Context): boolean {
  const refusal = findRefusal(ctx);
  if (refusal === undefined) return ctx.payload === undefined && !ctx.raw.hasHeader("Content-Type");
  return !refusal.problem.type.endsWith(":csrf");
}

/** The visit, if the client reads pages; `undefined` for a program. */
function findPageVisit(ctx: Context): PageRequest | undefined {
  const { headers } = ctx.incoming;
  if (headers["precognition"] === "true") return undefined;
  try {
    const visit = readPageRequest(headers);
    return visit.isInertia || acceptsHtml(ctx) ? visit : undefined;
  } catch {
    // The request was refused for these headers.
    return undefined;
  }
}

/** Whether the client names HTML, and not with a weight of 0 (RFC 9110 section 12.5.1). */
function acceptsHtml(ctx: Context): boolean {
  return ctx.accepts().some((type) => type.toLowerCase() === "text/html");
}
