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
  async create({ input }: ContextOf<typeof links.store>) {
    const { target, slug = freshSlug() } = input.body;
    const link = await this.store.add(slug, target);
    if (link === undefined) throw new ConflictError(`the slug ${slug} is taken`);
    log.info("link created", { slug });
    return Reply.created(links.show.url(link.slug), link);
  }

  @links.show
  async show({ params }: ContextOf<typeof links.show>) {
    const link = await this.store.find(params.slug);
    if (link === undefined) throw new NotFoundError(`no link ${params.slug}`);
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
  async create({ identity, input }: ContextOf<typeof own.store>) {
    const { target, slug = freshSlug() } = input.body;
    const link = await this.store.add(slug, target, identity.userId);
    if (link === undefined) throw new ConflictError(`the slug ${slug} is taken`);
    return Reply.created(links.show.url(link.slug), link);
  }

  @own.destroy
  async destroy({ identity, params }: ContextOf<typeof own.destroy>) {
    const link = await this.store.find(params.slug);
    if (link?.owner !== identity.userId) throw new NotFoundError(`no link ${params.slug} of this person`);
    await this.store.remove(link.slug);
    await this.events.emit(linkRemoved, link);
    return Reply.noContent();
  }
}
