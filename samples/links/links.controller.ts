import { ConflictError, type ContextOf, Controller, Events, Middleware, Reply } from "@stagecraft/framework";
import { tracing } from "@stagecraft/framework/observe";
import { createNoLinkError, translate } from "./languages.js";
import { linkRemoved } from "./link-removed.js";
import { LinkStore } from "./link-store.js";
import { links, own } from "./links.routes.js";
import { freshSlug } from "./new-link.js";
import { NoStore } from "./no-store.js";

/** A program that wants more asks for single links. */
const NEWEST = 1000;

const log = tracing.target("links::api");

/** The JSON API. A decorator ties each method to its action, so a method may have a separate name: `create` handles `store`. */
@Controller(links)
@Middleware(NoStore)
export class LinksController {
  constructor(private readonly store: LinkStore) {}

  @links.index
  async index() {
    return { links: await this.store.list({ count: NEWEST }) };
  }

  @links.store
  async create(ctx: ContextOf<typeof links.store>) {
    const { target, slug = freshSlug() } = ctx.input.body;
    const link = await this.store.add(slug, target);
    if (link === undefined) throw new ConflictError(await translate(ctx, "slug-taken", { slug }));
    log.info("link created", { slug });
    return Reply.created(links.show.url(link.slug), link);
  }

  @links.show
  async show(ctx: ContextOf<typeof links.show>) {
    const { slug } = ctx.params;
    const link = await this.store.find(slug);
    if (link === undefined) throw await createNoLinkError(ctx, slug);
    return link;
  }
}

/** The links of the person whose token a program sends. Links of others do not exist for it. */
@Controller(own)
@Middleware(NoStore)
export class OwnLinksController {
  constructor(
    private readonly store: LinkStore,
    private readonly events: Events,
  ) {}

  @own.index
  async index({ identity }: ContextOf<typeof own.index>) {
    return { links: await this.store.list({ owner: identity.userId, count: NEWEST }) };
  }

  @own.store
  async create(ctx: ContextOf<typeof own.store>) {
    const { target, slug = freshSlug() } = ctx.input.body;
    const link = await this.store.add(slug, target, ctx.identity.userId);
    if (link === undefined) throw new ConflictError(await translate(ctx, "slug-taken", { slug }));
    return Reply.created(links.show.url(link.slug), link);
  }

  @own.destroy
  async destroy(ctx: ContextOf<typeof own.destroy>) {
    const { slug } = ctx.params;
    const link = await this.store.find(slug);
    if (link?.owner !== ctx.identity.userId) throw await createNoLinkError(ctx, slug);
    await this.store.remove(link.slug);
    await this.events.emit(linkRemoved, link);
    return Reply.noContent();
  }
}
