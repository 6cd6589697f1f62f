/** Events inside the transactions of a real database: the time, the data and the failures of their listeners. */
import { Application, event, Events, Injectable, Module, On, provide } from "@stagecraft/framework";
import { Database } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { inWorkScope } from "../../lib/lifecycle/work-scope.js";
import { eventsOf } from "../support/events-of.js";
import { rejectionOf } from "../support/rejection-of.js";

const added = event<{ readonly name: string }>("article.added");

class ShopDatabase extends Database<{ readonly articles: { readonly name: string } }> {
  async add(name: string): Promise<void> {
    await this.query.insertInto("articles").values({ name }).execute();
  }

  async names(): Promise<readonly string[]> {
    return (await this.query.selectFrom("articles").select("name").orderBy("name").execute()).map(({ name }) => name);
  }
}

class Ledger extends ShopDatabase {}

@Injectable()
class Listener {
  readonly heard: string[] = [];

  constructor(private readonly db: ShopDatabase) {}

  @On(added)
  fail({ name }: { readonly name: string }): void {
    if (name.startsWith("failing")) throw new Error("no listener");
  }

  /** Writes in a separate transaction, which rolls back no change of the first one. */
  @On(added)
  async read({ name }: { readonly name: string }): Promise<void> {
    const names = await this.db.names();
    this.heard.push(`${name} of ${names.join(" ")}`);
    await rejectionOf(
      this.db.transaction(async () => {
        await this.db.add("undone");
        throw new Error("its own");
      }),
    );
  }

  @On(added, { inTransaction: true })
  async check({ name }: { readonly name: string }): Promise<void> {
    await this.db.add(`audit of ${name}`);
    if (name.startsWith("refused")) throw new Error("refused by a listener");
  }

  @On(added, { afterResponse: true })
  index({ name }: { readonly name: string }): void {
    this.heard.push(`${name} indexed`);
  }
}

const open = <D extends ShopDatabase>(Class: new (driver: ReturnType<typeof sqlite>) => D): D =>
  new Class(sqlite(":memory:"));

describe("an event in a transaction of a database", () => {
  let app: TestApp;
  let db: ShopDatabase;
  let heard: readonly string[];

  beforeEach(async () => {
    @Module({
      providers: [
        Listener,
        provide(ShopDatabase).useFactory(() => open(ShopDatabase)),
        provide(Ledger).useFactory(() => open(Ledger)),
      ],
    })
    class Shop {}
    app = await testApp(Application.create(Shop));
    db = app.resolve(ShopDatabase);
    ({ heard } = app.resolve(Listener));
    await db.run("create table articles (name text primary key)");
  });
  afterEach(() => app[Symbol.asyncDispose]());

  async function add(name: string): Promise<void> {
    await db.add(name);
    await app.resolve(Events).emit(added, { name });
  }

  it("reaches its listeners after the outermost commit, in order, and not where its nested transaction was rolled back", async () => {
    await db.transaction(async () => {
      await add("milk");
      await db.transaction(() => add("tea"));
      await rejectionOf(
        db.transaction(async () => {
          await add("undone");
          throw new Error("no");
        }),
      );
      expect(heard).to.deep.equal([]);
    });

    const all = "audit of milk audit of tea milk tea";
    expect(heard).to.deep.equal([`milk of ${all}`, "milk indexed", `tea of ${all}`, "tea indexed"]);
    expect(await db.names()).to.deep.equal(["audit of milk", "audit of tea", "milk", "tea"]);
  });

  it("reaches no listener where the transaction is rolled back, by its function or with its request", async () => {
    const undone = db.transaction(async () => {
      await add("milk");
      throw new Error("no");
    });
    const request = new AbortController();
    const left = inWorkScope(
      { signal: request.signal },
      () =>
        db.transaction(async () => {
          await add("tea");
          request.abort(new Error("the client has left"));
        }),
      undefined,
    );

    expect((await rejectionOf(undone)).message).to.equal("no");
    expect((await rejectionOf(left)).message).to.equal("the client has left");
    expect([heard, await db.names()]).to.deep.equal([[], []]);
  });

  it("rolls the transaction back when a listener inside it fails, and reaches no other listener", async () => {
    const error = await rejectionOf(db.transaction(() => add("refused")));

    expect(error.message).to.equal("refused by a listener");
    expect([heard, await db.names()]).to.deep.equal([[], []]);
  });

  it("stays committed and reaches the other listeners when a listener fails", async () => {
    const events = await eventsOf(() => db.transaction(() => add("failing")));

    expect(heard).to.deep.equal(["failing of audit of failing failing", "failing indexed"]);
    expect(await db.names()).to.include("failing");
    const failures = events.filter((each) => each.startsWith("ERROR"));
    expect(failures).to.have.lengthOf(1);
    expect(failures[0]).to.include("event listener failed event=article.added listener=Listener.fail");
  });

  it("does not wait for the transaction of another database around its own", async () => {
    const other = app.resolve(Ledger);
    await rejectionOf(
      other.transaction(async () => {
        await db.transaction(() => add("milk"));
        expect(heard).to.have.lengthOf(2);
        throw new Error("no");
      }),
    );

    expect(await db.names()).to.include("milk");
  });
});
