import { z } from "zod";
import { BLANK, plainText } from "../plain-text.js";

const text = (longest: number) => plainText().trim().min(1, BLANK).max(longest, `is longer than ${longest} characters`);

/** Each tag once. */
const Tags = z
  .array(text(50))
  .max(20, "are more than 20")
  .transform((tags) => [...new Set(tags)]);

const Article = z.object({ title: text(200), description: text(1000), body: text(100_000), tagList: Tags });

export const NewArticle = z.object({ article: Article.extend({ tagList: Tags.default([]) }) });
export const ArticleChange = z.object({ article: Article.partial() });
export const NewComment = z.object({ comment: z.object({ body: text(10_000) }) });

export type ArticleFields = z.output<typeof Article>;
export type ArticleChanges = z.output<typeof ArticleChange>["article"];

const Page = z.object({
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).max(1_000_000).default(0),
});

export const FeedQuery = Page;
export const ListQuery = Page.extend({
  tag: plainText().max(50).optional(),
  author: plainText().max(40).optional(),
  favorited: plainText().max(40).optional(),
});

/** Which articles a list has. */
export interface ArticleFilter extends z.output<typeof ListQuery> {
  /** Only articles of authors whom this user follows. */
  readonly followedBy?: number;
}
