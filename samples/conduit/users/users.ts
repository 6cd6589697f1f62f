import { Injectable } from "@stagecraft/framework";
import { Passwords } from "@stagecraft/framework/auth";
import type { Selectable } from "kysely";
import { ConduitDatabase, type Tables } from "../database.js";
import { asTaken } from "../errors.js";
import type { UserChanges } from "./user-input.js";

export type User = Selectable<Tables["users"]>;

@Injectable()
export class Users {
  constructor(
    private readonly db: ConduitDatabase,
    private readonly passwords: Passwords,
  ) {}

  find(id: number): Promise<User | undefined> {
    return this.db.query.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();
  }

  async add(username: string, email: string, password: string): Promise<User> {
    const values = { username, email, password: await this.passwords.hash(password) };
    return this.taken(this.db.query.insertInto("users").values(values).returningAll().executeTakeFirstOrThrow());
  }

  /** The user whose email and password these are. */
  async identify(email: string, password: string): Promise<User | undefined> {
    const user = await this.db.query.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirst();
    return (await this.passwords.verify(password, user?.password)) ? user : undefined;
  }

  /** `undefined` if there is no such user. */
  async change(id: number, { password, ...changes }: UserChanges): Promise<User | undefined> {
    const values = {
      ...defined(changes),
      ...(password !== undefined && { password: await this.passwords.hash(password) }),
    };
    if (Object.keys(values).length === 0) return this.find(id);
    const update = this.db.query.updateTable("users").set(values).where("id", "=", id);
    return this.taken(update.returningAll().executeTakeFirst());
  }

  private taken<T>(written: Promise<T>): Promise<T> {
    return written.catch((error: unknown) => Promise.reject(asTaken(error)));
  }
}

/** Without the members that were not given. */
function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
