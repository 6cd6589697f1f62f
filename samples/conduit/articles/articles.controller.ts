import { Context, Controller, Delete, Get, Middleware, Post, Put, Reply, routes } from "@stagecraft/framework";
import { notFound } from "../errors.js";
import { getPossibleViewer, Recognized, SignedIn, getViewer } from "../users/viewer.js";
import { ArticleChange, FeedQuery, ListQuery, NewArticle } from "./article-input.js";
import { ArticleLists } from "./article-lists.js";
import { Articles } from "./articles.js";

const articles = routes("articles", "/api", {
  index: Get("/articles"),
  feed: Get("/articles/feed"),
  create: Post("/articles"),
  show: Get("/articles/{slug}"),
  change: Put("/articles/{slug}"),
  remove: Delete("/articles/{slug}"),
  favor: Post("/articles/{slug}/favorite"),
  disfavor: Delete("/articles/{slug}/favorite"),
  tags: Get("/tags"),
});

@Controller(articles)
@Middleware(Recognized)
export class ArticlesController {
  constructor(
    private readonly store: Articles,
    private readonly lists: ArticleLists,
  ) {}

  @articles.index
  async index(ctx: Context) {
    return this.lists.page(await ctx.search(ListQuery), getPossibleViewer(ctx));
  }

  @articles.feed
  @Middleware(SignedIn)
  async feed(ctx: Context) {
    const viewer = getViewer(ctx);
    return this.lists.page({ ...(await ctx.search(FeedQuery)), followedBy: viewer }, viewer);
  }

  @articles.create
  @Middleware(SignedIn)
  async create(ctx: Context) {
    const { article } = await ctx.json(NewArticle);
    const slug = await this.store.add(getViewer(ctx), article);
    return Reply.created(articles.show.url(slug), await this.found(slug, ctx));
  }

  @articles.show
  show(ctx: Context<"slug">) {
    return this.found(ctx.params.slug, ctx);
  }

  @articles.change
  @Middleware(SignedIn)
  async change(ctx: Context<"slug">) {
    const { article } = await ctx.json(ArticleChange);
    return this.found(await this.store.change(ctx.params.slug, getViewer(ctx), article), ctx);
  }

  @articles.remove
  @Middleware(SignedIn)
  async remove(ctx: Context<"slug">) {
    await this.store.remove(ctx.params.slug, getViewer(ctx));
    return Reply.noContent();
  }

  @articles.favor
  @Middleware(SignedIn)
  async favor(ctx: Context<"slug">) {
    await this.store.favor(ctx.params.slug, getViewer(ctx));
    return this.show(ctx);
  }

  @articles.disfavor
  @Middleware(SignedIn)
  async disfavor(ctx: Context<"slug">) {
    await this.store.disfavor(ctx.params.slug, getViewer(ctx));
    return this.show(ctx);
  }

  @articles.tags
  async tags() {
    return { tags: await this.lists.tags() };
  }

  private async found(slug: string, ctx: Context<string>) {
    const article = await this.lists.find(slug, getPossibleViewer(ctx));
    if (article === undefined) throw notFound("article");
    return { article };
  }
}
