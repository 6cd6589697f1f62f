/** Starts a database whose migration stops between its two tables, for a spec that kills this process there. */
import { killedDriver } from "./killed-migration-driver.js";
import { ShopDatabase } from "../shop-database.js";

const db = new ShopDatabase(killedDriver(process.env["ENGINE"], process.env["ADDRESS"]), {
  migrate: true,
  migrations: [
    {
      name: "two-tables",
      up: async (tables) => {
        await tables.schema.createTable("first").addColumn("id", "integer").execute();
        process.stdout.write("half\n");
        await new Promise((resolve) => setTimeout(resolve, 60_000));
      },
    },
  ],
});

await db.start();
