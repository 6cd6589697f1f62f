import { content, type ContextOf, Controller, Delete, Get, Post, Put, Reply, routes } from "@stagecraft/framework";
import { z } from "zod";
import { Errors, notFound } from "../errors.js";
import { Person } from "../profiles/profiles.controller.js";
import { anyone, signedIn } from "../users/viewer.js";
import { ArticleChange, FeedQuery, ListQuery, NewArticle } from "./article-input.js";
import { ArticleLists } from "./article-lists.js";
import { Articles } from "./articles.js";

const Summary = z.object({
  slug: z.string(),
  title: z.string(),
  description: z.string(),
  tagList: z.array(z.string()).readonly(),
  createdAt: z.string(),
  updatedAt: z.string(),
  favorited: z.boolean(),
  favoritesCount: z.int(),
  author: Person,
});

const Page = { 200: z.object({ articles: z.array(Summary.meta({ id: "ArticleSummary" })), articlesCount: z.int() }) };
const Article = z.object({ article: Summary.extend({ body: z.string() }).meta({ id: "Article" }) });
const Found = { 200: Article, 404: Errors };

const articles = routes("articles", "/api", {
  index: Get("/articles", { guards: [anyone], query: ListQuery, responses: Page }),
  feed: Get("/articles/feed", { guards: [signedIn], query: FeedQuery, responses: Page }),
  create: Post("/articles", { guards: [signedIn], body: NewArticle, responses: { 201: Article } }),
  show: Get("/articles/{slug}", { guards: [anyone], responses: Found }),
  change: Put("/articles/{slug}", {
    guards: [signedIn],
    body: ArticleChange,
    responses: { ...Found, 403: Errors },
  }),
  remove: Delete("/articles/{slug}", {
    guards: [signedIn],
    responses: { 204: content.none(), 403: Errors, 404: Errors },
  }),
  favor: Post("/articles/{slug}/favorite", { guards: [signedIn], responses: Found }),
  disfavor: Delete("/articles/{slug}/favorite", { guards: [signedIn], responses: Found }),
  tags: Get("/tags", { responses: { 200: z.object({ tags: z.array(z.string()).readonly() }) } }),
});

@Controller(articles)
export class ArticlesController {
  constructor(
    private readonly store: Articles,
    private readonly lists: ArticleLists,
  ) {}

  @articles.index
  index({ input, viewer }: ContextOf<typeof articles.index>) {
    return this.lists.page(input.query, viewer);
  }

  @articles.feed
  feed({ input, viewer }: ContextOf<typeof articles.feed>) {
    return this.lists.page({ ...input.query, followedBy: viewer }, viewer);
  }

  @articles.create
  async create({ input, viewer }: ContextOf<typeof articles.create>) {
    const slug = await this.store.add(viewer, input.body.article);
    return Reply.created(articles.show.url(slug), await this.found(slug, viewer));
  }

  @articles.show
  show({ params, viewer }: ContextOf<typeof articles.show>) {
    return this.found(params.slug, viewer);
  }

  @articles.change
  async change({ params, input, viewer }: ContextOf<typeof articles.change>) {
    return this.found(await this.store.change(params.slug, viewer, input.body.article), viewer);
  }

  @articles.remove
  async remove({ params, viewer }: ContextOf<typeof articles.remove>) {
    await this.store.remove(params.slug, viewer);
    return Reply.noContent();
  }

  @articles.favor
  async favor({ params, viewer }: ContextOf<typeof articles.favor>) {
    await this.store.favor(params.slug, viewer);
    return this.found(params.slug, viewer);
  }

  @articles.disfavor
  async disfavor({ params, viewer }: ContextOf<typeof articles.disfavor>) {
    await this.store.disfavor(params.slug, viewer);
    return this.found(params.slug, viewer);
  }

  @articles.tags
  async tags() {
    return { tags: await this.lists.tags() };
  }

  private async found(slug: string, viewer: number) {
    const article = await this.lists.find(slug, viewer);
    if (article === undefined) throw notFound("article");
    return { article };
  }
}
