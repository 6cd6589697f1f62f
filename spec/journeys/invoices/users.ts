/** The users of the product, over its database: roles, suspension, and what a deletion leaves. */
import { randomUUID } from "node:crypto";
import { ForbiddenError, inject, NotFoundError } from "@stagecraft/framework";
import { AuthUsers, type NewUser, SignIns } from "@stagecraft/framework/auth";
import { authMigrations } from "@stagecraft/framework/auth/db";
import { Database, type Migration } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { jobsMigrations } from "@stagecraft/framework/jobs";
import { sessionMigrations } from "@stagecraft/framework/session/db";
import type { Generated } from "kysely";
import { z } from "zod";

export type Role = "owner" | "admin" | "member";

interface Tables {
  users: { id: string; name: string; role: Role; suspended: number };
  invoices: { id: Generated<number>; customer: string; cents: number; paid: number; created_by: string };
}

const users: Migration = {
  name: "users",
  up: (db) =>
    db.schema
      .createTable("users")
      .addColumn("id", "varchar(64)", (column) => column.primaryKey())
      .addColumn("name", "varchar(100)", (column) => column.notNull())
      .addColumn("role", "varchar(20)", (column) => column.notNull())
      .addColumn("suspended", "integer", (column) => column.notNull())
      .execute(),
};

const invoices: Migration = {
  name: "invoices",
  up: (db) =>
    db.schema
      .createTable("invoices")
      .addColumn("id", "integer", (column) => column.primaryKey())
      .addColumn("customer", "varchar(100)", (column) => column.notNull())
      .addColumn("cents", "integer", (column) => column.notNull())
      .addColumn("paid", "integer", (column) => column.notNull())
      .addColumn("created_by", "varchar(64)", (column) => column.notNull())
      .execute(),
};

export class AppDatabase extends Database<Tables> {
  constructor() {
    super(sqlite(":memory:"), {
      migrations: [authMigrations, jobsMigrations, sessionMigrations, users, invoices],
      migrate: true,
    });
  }
}

const NewName = z.object({ name: z.string().min(1).max(100) });
const contained: Record<Role, readonly Role[]> = {
  owner: ["owner", "admin", "member"],
  admin: ["admin", "member"],
  member: ["member"],
};

export class AppUsers extends AuthUsers {
  private readonly db = inject(AppDatabase);

  override async create({ data }: NewUser) {
    const { name } = NewName.parse(data);
    const id = randomUUID();
    const first = await this.db.query.selectFrom("users").select("id").limit(1).executeTakeFirst();
    const role = first === undefined ? "owner" : "member";
    await this.db.query.insertInto("users").values({ id, name, role, suspended: 0 }).execute();
    return id;
  }

  find(id: string) {
    return this.db.query.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();
  }

  list() {
    return this.db.query.selectFrom("users").select(["id", "name", "role", "suspended"]).execute();
  }

  override async delete(id: string) {
    if ((await this.find(id))?.role === "owner") throw new ForbiddenError("The owner cannot leave.");
    await this.db.query.deleteFrom("users").where("id", "=", id).execute();
  }

  override async getRoles(id: string) {
    const user = await this.find(id);
    return user === undefined ? [] : contained[user.role];
  }

  override async canSignIn(id: string) {
    const user = await this.find(id);
    return user !== undefined && user.suspended === 0;
  }
}

export class Members {
  private readonly db = inject(AppDatabase);
  private readonly users = inject(AppUsers);
  private readonly signIns = inject(SignIns);

  async setRole(id: string, role: Role) {
    await this.findOther(id);
    await this.db.query.updateTable("users").set({ role }).where("id", "=", id).execute();
  }

  async suspend(id: string) {
    await this.findOther(id);
    await this.db.query.updateTable("users").set({ suspended: 1 }).where("id", "=", id).execute();
    await this.signIns.endAll(id);
  }

  private async findOther(id: string) {
    const user = await this.users.find(id);
    if (user === undefined) throw new NotFoundError();
    if (user.role === "owner") throw new ForbiddenError("The owner stays the owner.");
  }
}
