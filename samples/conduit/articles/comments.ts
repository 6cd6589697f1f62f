import { Clock, Injectable } from "@stagecraft/framework";
import { ConduitDatabase } from "../database.js";
import { forbidden, notFound } from "../errors.js";

const MOST_COMMENTS = 500;

@Injectable()
export class Comments {
  constructor(
    private readonly db: ConduitDatabase,
    private readonly clock: Clock,
  ) {}

  /** The newest first, up to a bound, because the API has no pages of comments. @param viewer the user for whom `following` holds */
  async of(article: number, viewer: number) {
    const query = this.described(viewer).where("article", "=", article).orderBy("comments.id", "desc");
    return (await query.limit(MOST_COMMENTS).execute()).map(shown);
  }

  async add(article: number, author: number, body: string) {
    const now = new Date(this.clock.now()).toISOString();
    const insert = this.db.query
      .insertInto("comments")
      .values({ article, author, body, created_at: now, updated_at: now });
    const { id } = await insert.returning("id").executeTakeFirstOrThrow();
    return shown(await this.described(author).where("comments.id", "=", id).executeTakeFirstOrThrow());
  }

  /** @throws a 404, or a 403 for the comment of another user */
  async remove(article: number, id: number, viewer: number): Promise<void> {
    const query = this.db.query.selectFrom("comments").select("author").where("id", "=", id);
    const comment = await query.where("article", "=", article).executeTakeFirst();
    if (comment === undefined) throw notFound("comment");
    if (comment.author !== viewer) throw forbidden("comment");
    await this.db.query.deleteFrom("comments").where("id", "=", id).execute();
  }

  private described(viewer: number) {
    return this.db.query
      .selectFrom("comments")
      .innerJoin("users", "users.id", "comments.author")
      .select(["comments.id", "body", "created_at", "updated_at", "username", "bio", "image"])
      .select((eb) =>
        eb
          .exists(
            eb
              .selectFrom("follows")
              .select("followed")
              .whereRef("followed", "=", "users.id")
              .where("follower", "=", viewer),
          )
          .as("following"),
      );
  }
}

interface Described {
  readonly id: number;
  readonly body: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly username: string;
  readonly bio: string | null;
  readonly image: string | null;
  readonly following: unknown;
}

function shown({ id, body, created_at: createdAt, updated_at: updatedAt, username, bio, image, following }: Described) {
  return { id, body, createdAt, updatedAt, author: { username, bio, image, following: Boolean(following) } };
}
