import { Injectable } from "@stagecraft/framework";
import { ConduitDatabase } from "../database.js";

export interface Profile {
  readonly username: string;
  readonly bio: string | null;
  readonly image: string | null;
  readonly following: boolean;
}

@Injectable()
export class Profiles {
  constructor(private readonly db: ConduitDatabase) {}

  /** @param viewer the user for whom `following` holds */
  async find(username: string, viewer: number): Promise<(Profile & { readonly id: number }) | undefined> {
    const row = await this.db.query
      .selectFrom("users")
      .select(["id", "username", "bio", "image"])
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
      )
      .where("username", "=", username)
      .executeTakeFirst();
    return row && { ...row, following: Boolean(row.following) };
  }

  async follow(follower: number, followed: number): Promise<void> {
    const insert = this.db.query.insertInto("follows").values({ follower, followed });
    await insert.onConflict((conflict) => conflict.doNothing()).execute();
  }

  async unfollow(follower: number, followed: number): Promise<void> {
    const rows = this.db.query.deleteFrom("follows").where("follower", "=", follower);
    await rows.where("followed", "=", followed).execute();
  }
}
