import {
  ConflictError,
  type ContextOf,
  Controller,
  Events,
  Middleware,
  NotFoundError,
  Reply,
} from "@stagecraft/framework";
import { tracing } from "@stagecraft/framework/observe";
import { linkRemoved } from "./link-removed.js";
import { LinkStore } from "./link-store.js";
import { links } from "./links.routes.js";
import { freshSlug } from "./new-link.js";
import { NoStore } from "./no-store.js";

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
  async create({ input }: ContextOf<typeof links.store>) {
    const { target, slug = freshSlug() } = input.body;
    const link = await this.store.add(slug, target);
    if (link === undefined) throw new ConflictError(`the slug ${slug} is taken`);
    log.info("link created", { slug });
    return Reply.created(links.show.url(link.slug), link);
  }

  @links.show
  show({ params }: ContextOf<typeof links.show>) {
    return this.find(params.slug);
  }

  @links.destroy
  async destroy({ params }: ContextOf<typeof links.destroy>) {
    const link = await this.find(params.slug);
    await this.store.remove(link.slug);
    await this.events.emit(linkRemoved, link);
    return Reply.noContent();
  }

  private async find(slug: string) {
    const link = await this.store.find(slug);
    if (link === undefined) throw new NotFoundError(`no link ${slug}`);
    return link;
  }
}
