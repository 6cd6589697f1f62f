import { strict as assert } from "node:assert";
import { Application, provide, Route, Routes } from "@stagecraft/framework";
import { Database } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { testApp } from "@stagecraft/framework/testing";
import { obeysDatabase } from "@stagecraft/framework/testing/contracts";

class Notes extends Database<{ notes: { text: string } }> {}

const migrations = [
  {
    name: "notes",
    up: (db: Notes["query"]) => db.schema.createTable("notes").addColumn("text", "text").execute(),
  },
];

const binding = provide(Notes).useFactory(() => new Notes(sqlite(":memory:"), { migrations, migrate: true }));
const app = await testApp(
  Application.create()
    .provide(binding)
    .routes(new Routes([Route.get("/", () => "notes")])),
);
const db = app.resolve(Notes);
await db.transaction(() => db.query.insertInto("notes").values({ text: "milk" }).execute());
assert.deepEqual(await db.query.selectFrom("notes").selectAll().execute(), [{ text: "milk" }]);
await obeysDatabase(db);
await app.stop();
console.log("works");
