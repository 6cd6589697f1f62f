import { Context, Controller, NotFoundError } from "@stagecraft/framework";
import { tracing } from "@stagecraft/framework/observe";
import { Clicks } from "./clicks.js";
import { LinkStore } from "./link-store.js";
import { visit } from "./links.routes.js";

const log = tracing.target("links::visits");

/** Follows a short link. The target was checked when it was stored, so it may leave the site. */
@Controller("/")
export class VisitController {
  constructor(
    private readonly store: LinkStore,
    private readonly clicks: Clicks,
  ) {}

  @visit
  async visit(ctx: Context<"slug">) {
    const { slug } = ctx.params;
    const link = await log.span("find link", { slug }).run(() => this.store.find(slug));
    if (link === undefined) throw new NotFoundError(`no link ${ctx.params.slug}`);
    await this.clicks.record(slug);
    ctx.redirect(link.target);
  }
}
