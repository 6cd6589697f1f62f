import { content, type ContextOf, Controller, Delete, Get, Post, Reply, routes } from "@stagecraft/framework";
import { z } from "zod";
import { Errors } from "../errors.js";
import { Person } from "../profiles/profiles.controller.js";
import { anyone, signedIn } from "../users/viewer.js";
import { NewComment } from "./article-input.js";
import { Articles } from "./articles.js";
import { Comments } from "./comments.js";

const Comment = z
  .object({
    id: z.int(),
    body: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    author: Person,
  })
  .meta({ id: "Comment" });

const comments = routes("comments", "/api/articles/{slug}/comments", {
  index: Get("/", {
    guards: [anyone],
    responses: { 200: z.object({ comments: z.array(Comment) }), 404: Errors },
  }),
  create: Post("/", {
    guards: [signedIn],
    body: NewComment,
    responses: { 201: z.object({ comment: Comment }), 404: Errors },
  }),
  remove: Delete("/{id}", {
    guards: [signedIn],
    params: { id: z.int().positive() },
    responses: { 204: content.none(), 403: Errors, 404: Errors },
  }),
});

@Controller(comments)
export class CommentsController {
  constructor(
    private readonly articles: Articles,
    private readonly store: Comments,
  ) {}

  @comments.index
  async index({ params, viewer }: ContextOf<typeof comments.index>) {
    const article = await this.articles.getId(params.slug);
    return { comments: await this.store.of(article, viewer) };
  }

  @comments.create
  async create({ params, input, viewer }: ContextOf<typeof comments.create>) {
    const article = await this.articles.getId(params.slug);
    return { comment: await this.store.add(article, viewer, input.body.comment.body) };
  }

  @comments.remove
  async remove({ params, viewer }: ContextOf<typeof comments.remove>) {
    const article = await this.articles.getId(params.slug);
    await this.store.remove(article, params.id, viewer);
    return Reply.noContent();
  }
}
