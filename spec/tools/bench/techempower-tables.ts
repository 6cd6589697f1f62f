/** The tables of the TechEmpower benchmark, as its verifier makes them for PostgreSQL. */
import { Database, type DatabaseDriver, sql } from "@stagecraft/framework/db";
import { FORTUNES, randomNumber, WORLDS } from "./techempower-rules.js";

interface Tables {
  readonly world: { readonly id: number; readonly randomnumber: number };
  readonly fortune: { readonly id: number; readonly message: string };
}

export class WorldDatabase extends Database<Tables> {
  readonly worldById = this.prepared((id: number) =>
    this.query.selectFrom("world").select(["id", "randomnumber as randomNumber"]).where("id", "=", id),
  );

  readonly allFortunes = this.prepared(() => this.query.selectFrom("fortune").selectAll());

  readonly setNumbers = this.prepared((ids: readonly number[], numbers: readonly number[]) => ({
    compile: () =>
      sql`update world set randomnumber = new.number from unnest(${ids}::int[], ${numbers}::int[]) as new (id, number)
        where world.id = new.id`.compile(this.query),
  }));
}

export async function fillWorlds(driver: DatabaseDriver): Promise<void> {
  const db = new WorldDatabase(driver);
  await db.start();
  await db.run("create table world (id integer primary key, randomnumber integer not null default 0)");
  await db.run("create table fortune (id integer primary key, message varchar(2048) not null)");
  const numbers = Array.from({ length: WORLDS }, randomNumber);
  await db.run("insert into world select * from unnest($1::int[], $2::int[])", [
    numbers.map((_, at) => at + 1),
    numbers,
  ]);
  await db.query.insertInto("fortune").values(FORTUNES).execute();
  await db.run("analyze");
  await db.stop();
}
