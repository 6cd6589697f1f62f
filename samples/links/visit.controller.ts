import { Context, Controller, NotFoundError } from "@stagecraft/framework";
import { LinkStore } from "./link-store.js";
import { visit } from "./links.routes.js";

/** Follows a short link. The target was checked when it was stored, so it may leave the site. */
@Controller("/")
export class VisitController {
  constructor(private readonly store: LinkStore) {}

  @visit
  async visit(ctx: Context<"slug">) {
    const link = await this.store.find(ctx.params.slug);
    if (link === undefined) throw new NotFoundError(`no link ${ctx.params.slug}`);
    await this.store.countVisit(link.slug);
    ctx.redirect(link.target);
  }
}
