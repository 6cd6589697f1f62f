/** The tables, and the database that has them: a file of SQLite, or PostgreSQL where the environment names one. */
import { Database } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import type { Generated } from "kysely";
import { migrations } from "./migrations.js";
import type { Settings } from "./settings.js";

/** Times are ISO texts, which sort as they are. */
export interface Tables {
  users: {
    id: Generated<number>;
    username: string;
    email: string;
    password: string;
    bio: string | null;
    image: string | null;
  };
  follows: { follower: number; followed: number };
  articles: {
    id: Generated<number>;
    author: number;
    slug: string;
    title: string;
    description: string;
    body: string;
    created_at: string;
    updated_at: string;
  };
  tags: { article: number; tag: string };
  favorites: { user: number; article: number };
  comments: {
    id: Generated<number>;
    article: number;
    author: number;
    body: string;
    created_at: string;
    updated_at: string;
  };
}

export class ConduitDatabase extends Database<Tables> {}

export async function openDatabase({ databaseUrl, databaseFile }: Settings): Promise<ConduitDatabase> {
  if (databaseUrl === undefined) return fileDatabase(databaseFile);
  const { postgres } = await import("@stagecraft/framework/db/postgres");
  return new ConduitDatabase(postgres(databaseUrl), { migrations: migrations("serial"), migrate: true });
}

/** @param file a path, or `":memory:"` */
export function fileDatabase(file: string): ConduitDatabase {
  return new ConduitDatabase(sqlite(file), { migrations: migrations("integer"), migrate: true });
}
