import { Context, Controller, CspNonce, redirect, Reply, type FormFields } from "@stagecraft/framework";
import { homePage, type Attempt } from "./home.page.js";
import { LinkStore } from "./link-store.js";
import { home } from "./links.routes.js";
import { Overview } from "./overview/overview.js";
import { faultsOf, freshSlug, NewLink } from "./new-link.js";

/** The page for people: the list of links, and a form for a new one. */
@Controller(home)
export class HomeController {
  constructor(
    private readonly store: LinkStore,
    private readonly overview: Overview,
  ) {}

  @home.index
  index(ctx: Context) {
    return this.page(ctx);
  }

  /** For invalid input the answer is the page again, with the input and an error beside each field. */
  @home.shorten
  async shorten(ctx: Context) {
    const entered = await ctx.form();
    const read = NewLink.safeParse(entered);
    if (!read.success) return this.page(ctx, { ...texts(entered), faults: faultsOf(read.error) }, 422);
    const { target, slug = freshSlug() } = read.data;
    const link = await this.store.add(slug, target);
    if (link === undefined) return this.page(ctx, { target, slug, faults: { slug: "that name is taken" } }, 409);
    return redirect().route(home.index);
  }

  @home.about
  about() {
    return "A link shortener, and the example to copy from.\n";
  }

  private async page(ctx: Context, attempt?: Attempt, status = 200) {
    const overview = this.overview.html(ctx, status);
    return Reply.html(homePage(ctx.host, await this.store.all(), CspNonce.find(ctx), { overview, attempt }), status);
  }
}

/** A repeated field is a list, not a text. */
function texts({ target, slug }: FormFields) {
  return { target: typeof target === "string" ? target : "", slug: typeof slug === "string" ? slug : "" };
}
