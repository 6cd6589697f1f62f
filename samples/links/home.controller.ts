import { type ContextOf, Controller, Events, Middleware, redirect } from "@stagecraft/framework";
import { deferred, page, scroll } from "@stagecraft/framework/pages";
import { backTo } from "./back-to.js";
import { linksIndex, linksShow } from "./contracts.js";
import { listedFor, toPage, toSlice } from "./link-list.js";
import { createNoLinkError, languages, say, translate } from "./languages.js";
import { linkRemoved } from "./link-removed.js";
import { LinkStore } from "./link-store.js";
import { home } from "./links.routes.js";
import { Logos } from "./logos.js";
import { freshSlug } from "./new-link.js";
import { Overview } from "./overview/overview.js";
import { SlugCheck } from "./slug-check.js";

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
  async index(ctx: ContextOf<typeof home.index>) {
    const { q: query, page: at } = ctx.input.query;
    const listed = async () => {
      const links = await this.store.list(toSlice(query, at));
      return links.map((link) => listedFor(ctx.identity?.userId, link));
    };
    const { links: total } = await this.store.totals();
    return page(linksIndex, {
      links: scroll(async () => toPage(await listed(), at)),
      total,
      query,
      overview: this.overview.of(ctx, 200),
    }).head({ description: await translate(ctx, "page-description") });
  }

  @home.show
  async show(ctx: ContextOf<typeof home.show>) {
    const { slug } = ctx.params;
    const link = await this.store.find(slug);
    if (link === undefined) throw await createNoLinkError(ctx, slug);
    return page(linksShow, {
      link: listedFor(ctx.identity?.userId, link),
      picture: await this.pictures.findPath(link),
      clicks: deferred(() => this.store.visitsByDay(slug)),
    });
  }

  /** Leads back to the page: with the new link, or with an error beside each wrong field. */
  @home.shorten
  @Middleware(backTo(home.index), SlugCheck)
  async shorten(ctx: ContextOf<typeof home.shorten>) {
    const { target, slug = freshSlug() } = ctx.input.body;
    const link = await this.store.add(slug, target, ctx.identity.userId);
    const again = redirect().route(home.index);
    if (link === undefined) return again.withErrors({ slug: await translate(ctx, "field-name-taken") });
    await say(ctx, "success", "flash-link-ready", { slug });
    return again;
  }

  /** People remove their own links. Links of others do not exist for them. */
  @home.remove
  async remove(ctx: ContextOf<typeof home.remove>) {
    const { slug } = ctx.params;
    const link = await this.store.find(slug);
    if (link?.owner !== ctx.identity.userId) throw await createNoLinkError(ctx, slug);
    await this.store.remove(slug);
    await this.events.emit(linkRemoved, link);
    await say(ctx, "info", "flash-link-removed", { slug });
    return redirect().route(home.index);
  }

  @home.language
  async language(ctx: ContextOf<typeof home.language>) {
    await languages.of(ctx);
    return redirect().to(ctx.input.query.to);
  }

  @home.about
  async about(ctx: ContextOf<typeof home.about>) {
    return `${await translate(ctx, "about")}\n`;
  }
}
