/** Writes to a file that other processes write too, and stops inside a transaction, for a spec that kills this process there. */
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { ShopDatabase } from "../../shop-database.js";

const db = new ShopDatabase(sqlite(String(process.env["FILE"]), { waitMs: 60_000 }));
await db.start();
process.stdout.write("started\n");
for (let number = 0; number < 50; number++) await db.transaction(() => db.add(`theirs ${number}`), { retries: 5 });
process.stdout.write("written\n");
await db.transaction(async () => {
  await db.add("half");
  process.stdout.write("half\n");
  await new Promise((resolve) => setTimeout(resolve, 60_000));
});
