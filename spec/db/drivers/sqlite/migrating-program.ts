/** Starts a database with a migration outside of a transaction, which waits for the end of the input if the variable GATE is set. */
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { once } from "node:events";
import { ShopDatabase } from "../../shop-database.js";

const db = new ShopDatabase(sqlite(String(process.env["FILE"])), {
  migrate: true,
  migrations: [
    {
      name: "slow",
      transaction: false,
      up: async (tables) => {
        await tables.schema.createTable("first").addColumn("id", "integer").execute();
        process.stdout.write("half\n");
        if (process.env["GATE"] !== undefined) await once(process.stdin.resume(), "end");
        else await new Promise((resolve) => setTimeout(resolve, 50));
        await tables.schema.createTable("second").addColumn("id", "integer").execute();
      },
    },
  ],
});

await db.start();
await db.stop();
process.stdout.write("started\n");
