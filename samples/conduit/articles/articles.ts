/** Writes articles. Where two tables change, a transaction holds both. */
import { Clock, Injectable } from "@stagecraft/framework";
import { randomBytes } from "node:crypto";
import { ConduitDatabase } from "../database.js";
import { forbidden, notFound } from "../errors.js";
import type { ArticleChanges, ArticleFields } from "./article-input.js";

const LONGEST_START = 200;

@Injectable()
export class Articles {
  constructor(
    private readonly db: ConduitDatabase,
    private readonly clock: Clock,
  ) {}

  /** The slug of the new article. */
  add(author: number, { tagList, ...fields }: ArticleFields): Promise<string> {
    return this.db.transaction(async () => {
      const now = this.now();
      const values = { ...fields, author, slug: toSlug(fields.title), created_at: now, updated_at: now };
      const insert = this.db.query.insertInto("articles").values(values);
      const { id } = await insert.returning("id").executeTakeFirstOrThrow();
      await this.setTags(id, tagList);
      return values.slug;
    });
  }

  /** The slug, which follows the title. @throws a 404, or a 403 for the article of another user */
  change(slug: string, viewer: number, { tagList, ...fields }: ArticleChanges): Promise<string> {
    return this.db.transaction(async () => {
      const id = await this.ownId(slug, viewer);
      const renamed = fields.title === undefined ? slug : toSlug(fields.title);
      const values = { ...fields, slug: renamed, updated_at: this.now() };
      await this.db.query.updateTable("articles").set(values).where("id", "=", id).execute();
      if (tagList !== undefined) {
        await this.db.query.deleteFrom("tags").where("article", "=", id).execute();
        await this.setTags(id, tagList);
      }
      return renamed;
    });
  }

  async remove(slug: string, viewer: number): Promise<void> {
    const id = await this.ownId(slug, viewer);
    await this.db.query.deleteFrom("articles").where("id", "=", id).execute();
  }

  async favor(slug: string, user: number): Promise<void> {
    const article = await this.getId(slug);
    const insert = this.db.query.insertInto("favorites").values({ article, user });
    await insert.onConflict((conflict) => conflict.doNothing()).execute();
  }

  async disfavor(slug: string, user: number): Promise<void> {
    const article = await this.getId(slug);
    await this.db.query.deleteFrom("favorites").where("article", "=", article).where("user", "=", user).execute();
  }

  /** @throws a 404 */
  async getId(slug: string): Promise<number> {
    return (await this.row(slug)).id;
  }

  private async ownId(slug: string, viewer: number): Promise<number> {
    const { id, author } = await this.row(slug);
    if (author !== viewer) throw forbidden("article");
    return id;
  }

  private async row(slug: string) {
    const query = this.db.query.selectFrom("articles").select(["id", "author"]).where("slug", "=", slug);
    const row = await query.executeTakeFirst();
    if (row === undefined) throw notFound("article");
    return row;
  }

  private async setTags(article: number, tags: readonly string[]): Promise<void> {
    if (tags.length === 0) return;
    const rows = tags.map((tag) => ({ article, tag }));
    await this.db.query.insertInto("tags").values(rows).execute();
  }

  private now(): string {
    return new Date(this.clock.now()).toISOString();
  }
}

/** The words of the title, and a few random characters, since two articles may have one title. */
function toSlug(title: string): string {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  // Whole characters: half of one has no URL.
  const start = Array.from(words.join("-")).slice(0, LONGEST_START).join("");
  return `${start}-${randomBytes(4).toString("hex")}`;
}
