import { ConflictError, Context, Controller, Events, Middleware, NotFoundError, Reply } from "@stagecraft/framework";
import { tracing } from "@stagecraft/framework/observe";
import { linkRemoved } from "./link-removed.js";
import { LinkStore } from "./link-store.js";
import { links } from "./links.routes.js";
import { freshSlug, NewLink } from "./new-link.js";
import { NoStore } from "./no-store.js";
import { SignedIn } from "./accounts/signed-in.js";

/** A program that wants more asks for single links. */
const NEWEST = 1000;

const log = tracing.target("links::api");

/** The JSON API. A decorator ties each method to its action, so a method may have a separate name: `create` handles `store`. */
@Controller(links)
@Middleware(NoStore)
export class LinksController {
  constructor(
    private readonly store: LinkStore,
    private readonly events: Events,
  ) {}

  @links.index
  async index() {
    return { links: await this.store.list({ count: NEWEST }) };
  }

  @links.store
  async create(ctx: Context) {
    const { target, slug = freshSlug() } = await ctx.json(NewLink);
    const link = await this.store.add(slug, target);
    if (link === undefined) throw new ConflictError(`the slug ${slug} is taken`);
    log.info("link created", { slug });
    return Reply.created(links.show.url(link.slug), link);
  }

  @links.show
  async show({ params }: Context<"id">) {
    const link = await this.store.find(params.id);
    if (link === undefined) throw new NotFoundError(`no link ${params.id}`);
    return link;
  }

  @links.destroy
  @Middleware(SignedIn)
  async destroy({ params }: Context<"id">) {
    const link = await this.store.find(params.id);
    if (link === undefined) throw new NotFoundError(`no link ${params.id}`);
    await this.store.remove(link.slug);
    await this.events.emit(linkRemoved, link);
    return Reply.noContent();
  }
}
