/** Reads articles: a page of any length takes three statements. */
import { Injectable } from "@stagecraft/framework";
import { ConduitDatabase } from "../database.js";
import type { ArticleFilter } from "./article-input.js";

@Injectable()
export class ArticleLists {
  constructor(private readonly db: ConduitDatabase) {}

  /** @param viewer the user for whom `favorited` and `following` hold */
  async page(filter: ArticleFilter, viewer: number) {
    const [rows, { count }] = await Promise.all([
      this.described(viewer, filter).orderBy("articles.id", "desc").limit(filter.limit).offset(filter.offset).execute(),
      this.matching(filter)
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow(),
    ]);
    const tags = await this.readTags(rows.map(({ id }) => id));
    return { articles: rows.map((row) => shown(row, tags.get(row.id) ?? [])), articlesCount: count };
  }

  async find(slug: string, viewer: number) {
    const row = await this.described(viewer, {}).select("articles.body").where("slug", "=", slug).executeTakeFirst();
    if (row === undefined) return undefined;
    const tags = await this.readTags([row.id]);
    return { ...shown(row, tags.get(row.id) ?? []), body: row.body };
  }

  /** The most used tags. */
  async tags(): Promise<readonly string[]> {
    const query = this.db.query.selectFrom("tags").select("tag").groupBy("tag");
    const rows = await query
      .orderBy(({ fn }) => fn.countAll(), "desc")
      .orderBy("tag")
      .limit(1000)
      .execute();
    return rows.map(({ tag }) => tag);
  }

  private described(viewer: number, filter: Partial<ArticleFilter>) {
    return this.matching(filter)
      .innerJoin("users", "users.id", "articles.author")
      .select(["articles.id", "slug", "title", "description", "username", "bio", "image"])
      .select(["articles.created_at as createdAt", "articles.updated_at as updatedAt"])
      .select((eb) => {
        const favorites = eb.selectFrom("favorites").whereRef("favorites.article", "=", "articles.id");
        const follows = eb.selectFrom("follows").whereRef("followed", "=", "articles.author");
        return [
          favorites.select(({ fn }) => fn.countAll<number>().as("count")).as("favoritesCount"),
          eb.exists(favorites.select("favorites.user").where("favorites.user", "=", viewer)).as("favorited"),
          eb.exists(follows.select("followed").where("follower", "=", viewer)).as("following"),
        ];
      });
  }

  private matching({ author, tag, favorited, followedBy }: Partial<ArticleFilter>) {
    let query = this.db.query.selectFrom("articles");
    if (author !== undefined)
      query = query.where("articles.author", "in", (eb) =>
        eb.selectFrom("users as authors").select("authors.id").where("authors.username", "=", author),
      );
    if (tag !== undefined)
      query = query.where("articles.id", "in", (eb) =>
        eb.selectFrom("tags").select("tags.article").where("tags.tag", "=", tag),
      );
    if (favorited !== undefined)
      query = query.where("articles.id", "in", (eb) =>
        eb
          .selectFrom("favorites as marks")
          .innerJoin("users as fans", "fans.id", "marks.user")
          .select("marks.article")
          .where("fans.username", "=", favorited),
      );
    if (followedBy !== undefined)
      query = query.where("articles.author", "in", (eb) =>
        eb.selectFrom("follows as own").select("own.followed").where("own.follower", "=", followedBy),
      );
    return query;
  }

  private async readTags(articles: readonly number[]): Promise<ReadonlyMap<number, readonly string[]>> {
    const tags = new Map<number, string[]>();
    if (articles.length === 0) return tags;
    const query = this.db.query.selectFrom("tags").select(["article", "tag"]).where("article", "in", articles);
    for (const { article, tag } of await query.orderBy("tag").execute()) {
      const list = tags.get(article);
      if (list === undefined) tags.set(article, [tag]);
      else list.push(tag);
    }
    return tags;
  }
}

interface Described {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly username: string;
  readonly bio: string | null;
  readonly image: string | null;
  readonly favoritesCount: number | null;
  /** A number on SQLite, which has no booleans. */
  readonly favorited: unknown;
  readonly following: unknown;
}

function shown(row: Described, tagList: readonly string[]) {
  const { slug, title, description, createdAt, updatedAt, username, bio, image } = row;
  return {
    slug,
    title,
    description,
    tagList,
    createdAt,
    updatedAt,
    favorited: Boolean(row.favorited),
    favoritesCount: Number(row.favoritesCount),
    author: { username, bio, image, following: Boolean(row.following) },
  };
}
