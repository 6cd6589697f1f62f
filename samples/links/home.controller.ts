import { Context, Controller, Events, NotFoundError, redirect, ValidationError } from "@stagecraft/framework";
import { deferred, page, scroll } from "@stagecraft/framework/pages";
import { Flash } from "@stagecraft/framework/session";
import { account } from "./accounts/account.routes.js";
import { findVisitor } from "./accounts/visitor.js";
import { linksIndex, linksShow } from "./contracts.js";
import { listedFor, ListQuery, toPage, toSlice } from "./link-list.js";
import { linkRemoved } from "./link-removed.js";
import { LinkStore } from "./link-store.js";
import { home } from "./links.routes.js";
import { Logos } from "./logos.js";
import { freshSlug, NewLink } from "./new-link.js";
import { Overview } from "./overview/overview.js";
import { sent } from "./sent.js";

/** The pages for people: the list of links, with a form for those who have signed in, and one page for each link. */
@Controller(home)
export class HomeController {
  constructor(
    private readonly store: LinkStore,
    private readonly pictures: Logos,
    private readonly overview: Overview,
    private readonly events: Events,
  ) {}

  @home.index
  async index(ctx: Context) {
    const { q: query, page: at } = await ctx.search(ListQuery);
    const visitor = await findVisitor(ctx);
    const listed = async () => {
      const links = await this.store.list(toSlice(query, at));
      return links.map((link) => listedFor(visitor, link));
    };
    const { links: total } = await this.store.totals();
    return page(linksIndex, {
      links: scroll(async () => toPage(await listed(), at)),
      total,
      query,
      overview: this.overview.of(ctx, 200),
    }).head({ description: "Short links, and how often they are followed." });
  }

  @home.show
  async show(ctx: Context<"slug">) {
    const { slug } = ctx.params;
    const link = await this.store.find(slug);
    if (link === undefined) throw new NotFoundError(`no link ${slug}`);
    return page(linksShow, {
      link: listedFor(await findVisitor(ctx), link),
      picture: await this.pictures.findPath(link),
      clicks: deferred(() => this.store.visitsByDay(slug)),
    });
  }

  /** Leads back to the page: with the new link, or with an error beside each wrong field. */
  @home.shorten
  async shorten(ctx: Context) {
    const owner = await findVisitor(ctx);
    if (owner === undefined) return toSignIn(ctx);
    const again = redirect().route(home.index);
    try {
      const { target, slug = freshSlug() } = await sent(ctx, NewLink);
      const link = await this.store.add(slug, target, owner);
      if (link === undefined) return again.withErrors({ slug: "that name is taken" });
      Flash.of(ctx).success(`The link ${slug} is ready.`);
      return again;
    } catch (error) {
      if (error instanceof ValidationError) return again.withErrors(error);
      throw error;
    }
  }

  /** People remove their own links. Links of others do not exist for them. */
  @home.remove
  async remove(ctx: Context<"slug">) {
    const visitor = await findVisitor(ctx);
    if (visitor === undefined) return toSignIn(ctx);
    const { slug } = ctx.params;
    const link = await this.store.find(slug);
    if (link?.owner !== visitor) throw new NotFoundError(`no link ${slug} of this account`);
    await this.store.remove(slug);
    await this.events.emit(linkRemoved, link);
    Flash.of(ctx).info(`The link ${slug} is removed.`);
    return redirect().route(home.index);
  }

  @home.about
  about() {
    return "A link shortener, and the example to copy from.\n";
  }
}

function toSignIn(ctx: Context<string>) {
  Flash.of(ctx).warning("Please sign in first.");
  return redirect().route(account.signIn);
}
