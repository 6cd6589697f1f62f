import { type ContextOf, Controller, NotFoundError } from "@stagecraft/framework";
import { tracing } from "@stagecraft/framework/observe";
import { external } from "@stagecraft/framework/pages";
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
  async visit({ params: { slug } }: ContextOf<typeof visit>) {
    const link = await log.span("find link", { slug }).run(() => this.store.find(slug));
    if (link === undefined) throw new NotFoundError(`no link ${slug}`);
    await this.clicks.record(slug);
    return external(new URL(link.target).href);
  }
}
