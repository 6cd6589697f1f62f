/** The reports of each statement: a span, a duration by operation and outcome, and a DEBUG event of the request. */
import { Application, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { UniqueViolationError } from "@stagecraft/framework/db";
import { Metrics } from "@stagecraft/framework/observe";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { ShopDatabase, shopDatabase } from "./shop-database.js";

const INSERT = 'insert into "articles" ("name", "stock") values (?, ?)';

const series = (operation: string, outcome: string) =>
  `framework_subsystem_operation_duration_seconds_count{operation="${operation}",outcome="${outcome}",subsystem="database"}`;

async function shop() {
  const db = await shopDatabase();
  const add = async ({ params }: Context<"name">) => {
    try {
      await db.transaction(() => db.add(params.name));
      return "added";
    } catch (error) {
      if (error instanceof UniqueViolationError) return "known";
      throw error;
    }
  };
  return testApp(
    Application.create()
      .routes(new Routes([Route.post("/{name}", add)]))
      .provide(provide(ShopDatabase).useValue(db))
      .requestId()
      .accessLog(),
  );
}

describe("a statement of a database", () => {
  it("is a DEBUG event that carries the id of the request, with the outcome and the code of a failure", async () => {
    await using app = await shop();
    const answers = [await app.post("/tea"), await app.post("/tea")];
    const ids = answers.map(({ headers }) => headers.get("x-request-id") ?? "no id");

    const events = app.logs.lines().filter((line) => line.includes('"operation":"insert"'));

    expect(events).to.have.lengthOf(2);
    for (const [at, event] of events.entries())
      expect(event)
        .to.include('"level":"DEBUG"')
        .and.to.include('"target":"framework::db"')
        .and.to.include(`"request_id":"${ids[at]}"`);
    expect(events[0]).to.include('"outcome":"ok"').and.to.include('"subsystem":"database"');
    expect(events[1]).to.include('"outcome":"error"').and.to.include('"code":"E_DB_UNIQUE"');
  });

  it("is a span with its SQL, and so are the begin and the end of its transaction", async () => {
    await using app = await shop();
    await app.post("/canary4711secret");

    const texts = app.captured.spans.texts().filter((text) => text.includes("framework.db.query"));

    const operations = texts.map((text) => /operation=(\w+)/.exec(text)?.[1]);
    expect(operations.filter((each) => each !== "raw")).to.deep.equal(["begin", "insert", "commit"]);
    expect(texts.find((text) => text.includes("operation=insert"))).to.include(INSERT);
    expect(texts.join()).to.not.include("canary");
  });

  it("is counted with its seconds by operation and outcome", async () => {
    await using app = await shop();
    for (const name of ["tea", "tea", "milk"]) await app.post(`/${name}`);

    const metrics = app.resolve(Metrics).render();

    expect(metrics)
      .to.include(`${series("insert", "ok")} 2\n`)
      .and.to.include(`${series("insert", "error")} 1\n`)
      .and.to.include(`${series("commit", "ok")} 2\n`)
      .and.to.include(`${series("rollback", "ok")} 1\n`);
  });
});
