/** The database of the support desk: its staff and its tickets beside the identities. */
import { randomUUID } from "node:crypto";
import { inject } from "@stagecraft/framework";
import { AuthUsers, type NewUser } from "@stagecraft/framework/auth";
import { authMigrations } from "@stagecraft/framework/auth/db";
import { Database, type Migration } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { jobsMigrations } from "@stagecraft/framework/jobs";

interface DeskTables {
  readonly staff: { readonly id: string; readonly email: string };
  readonly tickets: {
    readonly id: string;
    readonly subject: string;
    readonly requester: string;
    readonly status: "open" | "closed";
  };
}

const deskTables: Migration = {
  name: "desk",
  async up(db) {
    await db.schema
      .createTable("staff")
      .addColumn("id", "varchar(64)", (column) => column.primaryKey())
      .addColumn("email", "varchar(254)", (column) => column.notNull())
      .execute();
    await db.schema
      .createTable("tickets")
      .addColumn("id", "varchar(64)", (column) => column.primaryKey())
      .addColumn("subject", "varchar(200)", (column) => column.notNull())
      .addColumn("requester", "varchar(254)", (column) => column.notNull())
      .addColumn("status", "varchar(10)", (column) => column.notNull())
      .execute();
  },
};

export class DeskDatabase extends Database<DeskTables> {
  constructor() {
    super(sqlite(":memory:"), { migrations: [authMigrations, jobsMigrations, deskTables], migrate: true });
  }
}

export class Staff extends AuthUsers {
  private readonly db = inject(DeskDatabase);

  override async create({ email }: NewUser) {
    const id = randomUUID();
    await this.db.query.insertInto("staff").values({ id, email }).execute();
    return id;
  }
}

export class Tickets {
  private readonly db = inject(DeskDatabase);

  list() {
    return this.db.query.selectFrom("tickets").selectAll().orderBy("id").execute();
  }

  find(id: string) {
    return this.db.query.selectFrom("tickets").selectAll().where("id", "=", id).executeTakeFirst();
  }

  async add(subject: string, requester: string) {
    const ticket = { id: randomUUID(), subject, requester, status: "open" as const };
    await this.db.query.insertInto("tickets").values(ticket).execute();
    return ticket;
  }
}
