import { type ContextOf, Controller } from "@stagecraft/framework";
import { tracing } from "@stagecraft/framework/observe";
import { external } from "@stagecraft/framework/pages";
import { Clicks } from "./clicks.js";
import { createNoLinkError } from "./languages.js";
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
  async visit(ctx: ContextOf<typeof visit>) {
    const { slug } = ctx.params;
    const link = await log.span("find link", { slug }).run(() => this.store.find(slug));
    if (link === undefined) throw await createNoLinkError(ctx, slug);
    await this.clicks.record(slug);
    return external(new URL(link.target).href);
  }
}
