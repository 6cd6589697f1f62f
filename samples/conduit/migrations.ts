import type { Migration, MigrationTables } from "@stagecraft/framework/db";
import type { CreateTableBuilder, Kysely } from "kysely";

/** @param numbered the type of a column that numbers its rows: `integer` on SQLite, `serial` on PostgreSQL */
export function migrations(numbered: "integer" | "serial"): readonly Migration[] {
  return [
    {
      name: "2026-11-users",
      up: async (db) => {
        await db.schema
          .createTable("users")
          .addColumn("id", numbered, (id) => id.primaryKey())
          .addColumn("username", "varchar(40)", (name) => name.notNull().unique())
          .addColumn("email", "varchar(254)", (email) => email.notNull().unique())
          .addColumn("password", "varchar(200)", (password) => password.notNull())
          .addColumn("bio", "text")
          .addColumn("image", "text")
          .execute();
        await pair(db, "follows", ["follower", "users"], ["followed", "users"]).execute();
      },
    },
    {
      name: "2026-11-articles",
      up: async (db) => {
        await written(db, "articles", numbered)
          .addColumn("slug", "varchar(240)", (slug) => slug.notNull().unique())
          .addColumn("title", "varchar(200)", (title) => title.notNull())
          .addColumn("description", "varchar(1000)", (description) => description.notNull())
          .execute();
        await db.schema.createIndex("articles_by_author").on("articles").column("author").execute();
        await db.schema
          .createTable("tags")
          .addColumn("article", "integer", (article) => article.notNull().references("articles.id").onDelete("cascade"))
          .addColumn("tag", "varchar(50)", (tag) => tag.notNull())
          .addPrimaryKeyConstraint("tags_key", ["article", "tag"])
          .execute();
        await db.schema.createIndex("tags_by_tag").on("tags").column("tag").execute();
        await pair(db, "favorites", ["article", "articles"], ["user", "users"]).execute();
      },
    },
    {
      name: "2026-11-comments",
      up: async (db) => {
        await written(db, "comments", numbered)
          .addColumn("article", "integer", (article) => article.notNull().references("articles.id").onDelete("cascade"))
          .execute();
        await db.schema.createIndex("comments_by_article").on("comments").column("article").execute();
      },
    },
  ];
}

/** A table of texts that users write. */
function written(db: Kysely<MigrationTables>, table: string, numbered: "integer" | "serial") {
  return db.schema
    .createTable(table)
    .addColumn("id", numbered, (id) => id.primaryKey())
    .addColumn("author", "integer", (author) => author.notNull().references("users.id").onDelete("cascade"))
    .addColumn("body", "text", (body) => body.notNull())
    .addColumn("created_at", "varchar(24)", (time) => time.notNull())
    .addColumn("updated_at", "varchar(24)", (time) => time.notNull());
}

/** A table of pairs: each column with the table that it refers to. */
function pair(
  db: Kysely<MigrationTables>,
  table: string,
  ...columns: readonly (readonly [column: string, table: string])[]
) {
  const empty: CreateTableBuilder<string, string> = db.schema.createTable(table);
  return columns
    .reduce(
      (builder, [column, target]) =>
        builder.addColumn(column, "integer", (id) => id.notNull().references(`${target}.id`).onDelete("cascade")),
      empty,
    )
    .addPrimaryKeyConstraint(
      `${table}_key`,
      columns.map(([column]) => column),
    );
}
