import { Context, Controller, Delete, Get, Middleware, Post, Reply, routes } from "@stagecraft/framework";
import { notFound } from "../errors.js";
import { getPossibleViewer, Recognized, SignedIn, getViewer } from "../users/viewer.js";
import { NewComment } from "./article-input.js";
import { Articles } from "./articles.js";
import { Comments } from "./comments.js";

const comments = routes("comments", "/api/articles/{slug}/comments", {
  index: Get("/"),
  create: Post("/"),
  remove: Delete("/{id}"),
});

@Controller(comments)
@Middleware(Recognized)
export class CommentsController {
  constructor(
    private readonly articles: Articles,
    private readonly store: Comments,
  ) {}

  @comments.index
  async index(ctx: Context<"slug">) {
    const article = await this.articles.getId(ctx.params.slug);
    return { comments: await this.store.of(article, getPossibleViewer(ctx)) };
  }

  @comments.create
  @Middleware(SignedIn)
  async create(ctx: Context<"slug">) {
    const { comment } = await ctx.json(NewComment);
    const article = await this.articles.getId(ctx.params.slug);
    return Reply.json({ comment: await this.store.add(article, getViewer(ctx), comment.body) }, 201);
  }

  @comments.remove
  @Middleware(SignedIn)
  async remove(ctx: Context<"slug" | "id">) {
    const { slug, id } = ctx.params;
    const article = await this.articles.getId(slug);
    if (!/^\d{1,9}$/.test(id)) throw notFound("comment");
    await this.store.remove(article, Number(id), getViewer(ctx));
    return Reply.noContent();
  }
}
