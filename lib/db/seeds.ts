/**
 * `db.seeds`: the rows that a new database starts with, such as the first roles, or data for the machine of a developer. A seed is a function
 * that gets the database. The command `stagecraft db:seed` runs the seeds in their order, each in one transaction.
 *
 * Not for a change of the schema, and not for rows that each released database needs once: these are migrations.
 *
 * @example
 * async function addLinks(db: ShopDatabase) {
 *   const rows = [{ slug: "docs", target: "https://docs.example" }];
 *   await db.query.insertInto("links").values(rows).onConflict((slug) => slug.column("slug").doNothing()).execute();
 * }
 * new ShopDatabase(sqlite("shop.db"), { migrations, seeds: [addLinks] });
 */
import { FrameworkError } from "../errors/framework-error.js";
import { causeText } from "../errors/thrown-value.js";
import { tracing } from "../tracing/tracing.js";
import type { DriverResult } from "./driver.js";

const log = tracing.target("framework::db::seeds");

/** Runs again with each call of `db.seeds.run()`, so it leaves the rows that are there already. Its name is that of the function. */
export type Seed = SeedMethod["run"];

/** The part of a database that every seed can use. A seed may name the class of its database instead. */
export interface SeededDatabase {
  readonly name: string;
  run(text: string, binds?: readonly unknown[]): Promise<DriverResult["rows"]>;
  transaction<T>(fn: () => T | Promise<T>): Promise<T>;
}

interface SeedMethod {
  // A method, because a parameter of a method may be a subclass of the type.
  run(db: SeededDatabase): unknown;
}

export class Seeds {
  constructor(
    private readonly database: SeededDatabase,
    private readonly seeds: readonly Seed[],
  ) {}

  get isEmpty(): boolean {
    return this.seeds.length === 0;
  }

  /**
   * Runs the seeds in their order, each in one transaction, and returns their names. After a failure the earlier ones stay.
   *
   * @throws FrameworkError `E_DB_SEED`, which names the seed, with the error of the seed as its cause
   */
  async run(): Promise<readonly string[]> {
    const names: string[] = [];
    for (const [index, seed] of this.seeds.entries()) {
      const name = seed.name || `seed ${index + 1}`;
      try {
        await this.database.transaction(() => seed(this.database));
      } catch (error) {
        throw seedError(this.database.name, name, error);
      }
      log.info("seed has run", { seed: name });
      names.push(name);
    }
    return names;
  }
}

function seedError(database: string, name: string, cause: unknown): FrameworkError {
  return new FrameworkError(
    `${database}: the seed ${name} failed, and its transaction was rolled back: ${causeText(cause)}. A seed runs again with each call, so it ` +
      "leaves out the rows that are there.",
    { code: "E_DB_SEED", cause },
  );
}
