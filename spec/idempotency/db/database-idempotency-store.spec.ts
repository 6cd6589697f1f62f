/** Idempotency keys in a database: key, effect and response are one transaction, on each engine. */
import {
  Application,
  ConflictError,
  type Context,
  type Middleware,
  type Next,
  Post,
  provide,
  Reply,
  Route,
  Routes,
  TooManyRequestsError,
} from "@stagecraft/framework";
import { UniqueViolationError } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Idempotency } from "@stagecraft/framework/idempotency";
import { DatabaseIdempotencyStore, idempotencyMigrations } from "@stagecraft/framework/idempotency/db";
import { expectProblem, FakeClock, testApp, type TestApp, type TestResponse } from "@stagecraft/framework/testing";
import { obeysIdempotencyStore } from "@stagecraft/framework/testing/contracts";
import { expect } from "chai";
import { CamelCasePlugin } from "kysely";
import { temporaryFolder } from "../../db/shop-database.js";
import { Child } from "../../support/child.js";
import { Gate } from "../../support/gate.js";
import { needs } from "../../support/machine.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";
import { order, type OrderHandler, type OrderSettings, see, startOrders } from "../orders.js";
import { ENGINES, openDriver, OrderDatabase, type StartedEngine } from "./order-database.js";

interface Shop extends AsyncDisposable {
  readonly app: TestApp;
  readonly db: OrderDatabase;
}

type ShopHandler = (db: OrderDatabase, ...args: Parameters<OrderHandler>) => unknown;

const place: ShopHandler = async (db, { user }) => {
  await db.add("tea", user);
  return Reply.json({ user }, 201);
};

async function open(url: string, handler: ShopHandler = place, settings?: OrderSettings): Promise<Shop> {
  const db = OrderDatabase.on(openDriver(url));
  const app = await startOrders(new DatabaseIdempotencyStore(db), (ctx) => handler(db, ctx), settings);
  return { app, db, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

const launch = async (url: string, kills: boolean) => {
  const child = await Child.start("../idempotency/db/order-application.js", {
    DATABASE: url,
    ...(kills && { KILLS: "yes" }),
  });
  await child.serves();
  return child;
};

const send = (child: Child, article: string) =>
  fetch(`${child.url}/shops/north/orders`, {
    method: "POST",
    body: JSON.stringify({ article }),
    headers: { authorization: "ada", "idempotency-key": "k-1", "content-type": "application/json" },
  });

for (const { name, program, start } of ENGINES) {
  describe(`idempotency keys in ${name}`, function () {
    this.timeout(120_000);
    let server: StartedEngine;

    if (program !== undefined) before(needs(program));
    before(async () => {
      server = await start();
    });
    after(() => server?.[Symbol.asyncDispose]());
    beforeEach(async () => {
      await using db = OrderDatabase.on(openDriver(server.url));
      await db.start();
      await db.run("delete from framework_idempotency_keys");
      await db.run("delete from orders");
    });

    it("need their table at the start", async () => {
      class Bare extends OrderDatabase {}
      await using db = new Bare(openDriver(server.url));
      await db.start();
      await db.run("alter table framework_idempotency_keys rename to elsewhere");
      try {
        const other = new Bare(openDriver(server.url));
        void new DatabaseIdempotencyStore(other);
        const missing = await rejectionOf(other.start());

        expect(missing).to.have.property("code", "E_DB_TABLE");
        expect(missing.message).to.include("list idempotencyMigrations of @stagecraft/framework/idempotency/db");
      } finally {
        await db.run("alter table elsewhere rename to framework_idempotency_keys");
      }
    });

    it("obey the contract of idempotency stores", async () => {
      await using db = OrderDatabase.on(openDriver(server.url));
      await db.start();

      await obeysIdempotencyStore(new DatabaseIdempotencyStore(db));
    });

    it("are one effect and 50 equal responses of 50 equal requests at the same time", async () => {
      await using shop = await open(server.url);
      const responses = await Promise.all(Array.from({ length: 50 }, () => see(order(shop.app))));
      const seen = new Set(responses.map(({ status, text }) => `${status} ${text}`));

      expect(await shop.db.articles()).to.deep.equal(["tea"]);
      expect(seen).to.deep.equal(new Set(['201 {"user":"ada"}']));
      expect(responses.filter(({ isReplayed }) => isReplayed)).to.have.lengthOf(49);
    });

    it("are one effect of 50 equal requests to two processes", async () => {
      await using one = await launch(server.url, false);
      await using two = await launch(server.url, false);
      const responses = await Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          const response = await send(at % 2 === 0 ? one : two, "tea");
          return `${response.status} ${await response.text()}`;
        }),
      );
      await using shop = await open(server.url);

      expect(await shop.db.articles()).to.deep.equal(["tea"]);
      // A machine that is busy for two seconds makes a 409 of a request that waits.
      const others = responses.filter((each) => each !== '201 {"article":"tea"}' && !each.startsWith("409"));
      expect(others).to.deep.equal([]);
      expect(responses.filter((each) => each.startsWith("201")))
        .to.have.property("length")
        .above(0);
      expect((await send(two, "tea")).headers.get("idempotency-replayed")).to.equal("true");
    });

    it("leave no effect of a process that is killed before the record, and the retry runs", async () => {
      const doomed = await launch(server.url, true);
      expect(await send(doomed, "dies").catch(() => "no response")).to.equal("no response");
      await doomed[Symbol.asyncDispose]();

      await using again = await launch(server.url, false);
      // The server may notice the end of the first process later.
      let retried: Response | undefined;
      await until(async () => (retried = await send(again, "dies")).status !== 409);
      await using shop = await open(server.url);

      expect(retried).to.include({ status: 201 });
      expect(retried?.headers.get("idempotency-replayed")).to.equal(null);
      expect(await shop.db.articles()).to.deep.equal(["dies"]);
    });

    it("have the effect and the response of a process that is killed before it responds", async () => {
      const doomed = await launch(server.url, true);
      expect(await send(doomed, "dies-late").catch(() => "no response")).to.equal("no response");
      await doomed[Symbol.asyncDispose]();

      await using again = await launch(server.url, false);
      const retried = await send(again, "dies-late");
      await using shop = await open(server.url);

      expect(retried.status).to.equal(201);
      expect(retried.headers.get("idempotency-replayed")).to.equal("true");
      expect(await retried.text()).to.equal('{"article":"dies-late"}');
      expect(await shop.db.articles()).to.deep.equal(["dies-late"]);
    });

    it("roll the effects of an error below 500 back, and send it again", async () => {
      let runs = 0;
      await using shop = await open(server.url, async (db, { user }) => {
        runs++;
        await db.add("tea", user);
        throw new ConflictError("sold out");
      });

      await expectProblem(await order(shop.app), { status: 409, detail: "sold out" });
      const again = await order(shop.app);

      await expectProblem(again, { status: 409, detail: "sold out" });
      expect(again.headers.get("idempotency-replayed")).to.equal("true");
      expect([runs, await shop.db.articles(), await shop.db.keys()]).to.deep.equal([1, [], 1]);
    });

    it("send an error again that a statement of the handler caused", async () => {
      let runs = 0;
      await using shop = await open(server.url, async (db) => {
        runs++;
        const insert = "insert into framework_idempotency_keys (id, fingerprint, expires_at) values ('a', 'b', 1)";
        await db.run(insert);
        await db.run(insert);
      });
      await expectProblem(await order(shop.app), { status: 409 });
      expect(await see(order(shop.app))).to.include({ status: 409, isReplayed: true });
      expect([runs, await shop.db.keys()]).to.deep.equal([1, 1]);
    });

    it("are free after a failure, which leaves no effect", async () => {
      const failures: readonly (() => unknown)[] = [
        () => Promise.reject(new Error("canary")),
        () => Reply.json({ later: true }, 503),
        () => Promise.reject(new TooManyRequestsError("slow down")),
        () => Reply.empty(429),
      ];
      let failure: (() => unknown) | undefined;
      await using shop = await open(server.url, async (db, { user }) => {
        await db.add("tea", user);
        return failure === undefined ? Reply.json({ user }, 201) : failure();
      });
      for (failure of failures) expect((await order(shop.app)).status).to.be.oneOf([429, 500, 503]);

      expect([await shop.db.articles(), await shop.db.keys()]).to.deep.equal([[], 0]);
      failure = undefined;
      expect(await see(order(shop.app))).to.include({ status: 201, isReplayed: false });
      expect(await see(order(shop.app))).to.include({ status: 201, isReplayed: true });
      expect(await shop.db.articles()).to.deep.equal(["tea"]);
    });

    it("run work for after the commit once, and none of a request that is rolled back", async () => {
      const seen: string[] = [];
      await using shop = await open(server.url, async (db, { query }) => {
        db.afterCommit(() => seen.push(String(query["as"])));
        if (query["as"] === "refused") throw new ConflictError("sold out");
        return Reply.empty(query["as"] === "failed" ? 503 : 201);
      });
      for (const [key, as] of [
        ["a", "refused"],
        ["b", "failed"],
        ["c", "done"],
      ] as const)
        await Promise.all(Array.from({ length: 5 }, () => order(shop.app, { key, query: `?as=${as}` })));

      expect(seen).to.deep.equal(["done"]);
    });

    it("are free after a timeout, and the effects are rolled back", async () => {
      const db = OrderDatabase.on(openDriver(server.url));
      const gate = new Gate();
      let isFirst = true;
      const handler = async () => {
        await db.add("tea", "ada");
        if (isFirst) await gate.passed;
        return Reply.empty(201);
      };
      const keys = new Idempotency(new DatabaseIdempotencyStore(db), { principal: () => "all" });
      await using app = await testApp(
        Application.create()
          .timeout(500, { status: 503 })
          .provide(provide(Idempotency).useValue(keys))
          .routes(new Routes([Route.of(Post("/", { idempotent: true }), handler)])),
      );
      const post = () => app.post("/", { headers: { "idempotency-key": "k" } });

      expect((await post()).status).to.equal(503);
      isFirst = false;
      gate.open();
      let again: TestResponse | undefined;
      await until(async () => (again = await post()).status === 201);
      expect(again?.headers.get("idempotency-replayed")).to.equal(null);
      expect([await db.articles(), await db.keys()]).to.deep.equal([["tea"], 1]);
    });

    it("are free after a client has left, and its effects are rolled back", async () => {
      const [entered, stopped] = [new Gate(), new Gate()];
      let isFirst = true;
      await using shop = await open(server.url, async (db, { user, signal }) => {
        await db.add("tea", user);
        if (isFirst) {
          isFirst = false;
          signal.addEventListener("abort", () => stopped.open());
          entered.open();
          await stopped.passed;
        }
        return Reply.json({ user }, 201);
      });
      const leaving = new AbortController();
      const sent = fetch(`${shop.app.url}/shops/north/orders`, {
        method: "POST",
        body: '{"article":"tea"}',
        headers: { authorization: "ada", "idempotency-key": "k-1", "content-type": "application/json" },
        signal: leaving.signal,
      }).catch(() => "left");
      await entered.passed;
      leaving.abort();
      await stopped.passed;

      expect(await sent).to.equal("left");
      expect(await see(order(shop.app))).to.include({ status: 201, isReplayed: false });
      expect(await shop.db.articles()).to.deep.equal(["tea"]);
    });

    it("belong to a payload, a path and a caller", async () => {
      await using shop = await open(server.url);
      await order(shop.app);

      await expectProblem(await order(shop.app, { article: "coffee" }), { status: 422, slug: "idempotency-reused" });
      await expectProblem(await order(shop.app, { user: "" }), { status: 401 });
      expect(await see(order(shop.app, { shop: "south" }))).to.include({ isReplayed: false });
      expect(await see(order(shop.app, { user: "eve" }))).to.include({ text: '{"user":"eve"}', isReplayed: false });
      expect(await see(order(shop.app))).to.include({ text: '{"user":"ada"}', isReplayed: true });
    });

    it("store text, bytes and headers as they are, up to 64 KiB", async () => {
      const bytes = Buffer.from(Array.from({ length: 65_536 }, (_, at) => at % 256));
      const values: readonly unknown[] = ["grüße 🧺\u0000", bytes, "ж".repeat(32_768), Reply.empty(204)];
      for (const [at, value] of values.entries()) {
        await using shop = await open(server.url, (_db, ctx) => {
          ctx.set("X-Name", "grün");
          return value;
        });
        const [first, second] = [await order(shop.app, { key: `k-${at}` }), await order(shop.app, { key: `k-${at}` })];

        expect(second.headers.get("idempotency-replayed")).to.equal("true");
        expect(second.headers.get("x-name")).to.equal(first.headers.get("x-name"));
        expect(Buffer.from(await second.arrayBuffer())).to.deep.equal(Buffer.from(await first.arrayBuffer()));
      }
    });

    it("record that a longer response was sent", async () => {
      await using shop = await open(server.url, () => "x".repeat(65_537));
      await (await order(shop.app)).text();

      await expectProblem(await order(shop.app), { status: 409, slug: "idempotency-unstored" });
    });

    it("expire, and are swept in the background", async () => {
      const clock = new FakeClock();
      await using shop = await open(server.url, place, { clock, options: { ttlMs: 60_000 } });
      await order(shop.app);
      await order(shop.app, { key: "k-2" });
      clock.advance(59_999);
      expect(await see(order(shop.app))).to.include({ isReplayed: true });
      clock.advance(1);

      expect(await see(order(shop.app))).to.include({ isReplayed: false });
      clock.advance(60_000);
      await order(shop.app, { key: "k-3" });
      await until(async () => (await shop.db.keys()) === 1);
      expect(await shop.db.articles()).to.have.lengthOf(4);
    });

    it("are one effect of requests to several processes after they have expired", async () => {
      const clock = new FakeClock();
      const openAt = () => open(server.url, place, { clock, options: { ttlMs: 60_000 } });
      await using one = await openAt();
      await using two = await openAt();
      await using three = await openAt();
      await order(one.app);
      clock.advance(60_000);
      const all = [one, two, three, one, two, three].map(({ app }) => see(order(app)));
      const responses = await Promise.all(all);

      expect(responses.map(({ status }) => status)).to.deep.equal(all.map(() => 201));
      expect(responses.filter(({ isReplayed }) => isReplayed)).to.have.lengthOf(5);
      expect(await one.db.articles()).to.have.lengthOf(2);
    });

    it("are those of a transaction around the request: where it rolls back, no other request gets the response", async () => {
      const db = OrderDatabase.on(openDriver(server.url));
      const [entered, gate] = [new Gate(), new Gate()];
      let runs = 0;
      class InTransaction implements Middleware {
        handle(_ctx: Context, next: Next) {
          return db.transaction(async () => {
            await next();
            entered.open();
            if (runs > 1) return;
            await gate.passed;
            throw new Error("rolled back");
          });
        }
      }
      const add = Post("/", { idempotent: true });
      const route = Route.of(add, async () => {
        await db.add("tea", "ada");
        return { run: ++runs };
      }).middleware(new InTransaction());
      const keys = new Idempotency(new DatabaseIdempotencyStore(db), { principal: () => "all" });
      await using app = await testApp(
        Application.create()
          .provide(provide(Idempotency).useValue(keys))
          .routes(new Routes([route])),
      );
      const post = () => see(app.post("/", { headers: { "idempotency-key": "k" } }));
      const first = post();
      await entered.passed;
      const second = post();
      gate.open();

      expect(await first).to.include({ status: 500 });
      expect(await second).to.deep.equal({ status: 200, text: '{"run":2}', isReplayed: false });
      expect(await db.articles()).to.deep.equal(["tea"]);
    });

    if (program !== undefined)
      it("are a 409 while another process runs the request for too long", async () => {
        const [entered, gate] = [new Gate(), new Gate()];
        await using one = await open(server.url, async (db, ctx) => {
          entered.open();
          await gate.passed;
          return place(db, ctx);
        });
        await using two = await open(server.url);
        const first = order(one.app);
        await entered.passed;
        const refused = await order(two.app);
        gate.open();

        expect(refused.headers.get("retry-after")).to.equal("2");
        await expectProblem(refused, { status: 409, slug: "idempotency-running" });
        expect((await first).status).to.equal(201);
        expect(await see(order(two.app))).to.include({ status: 201, isReplayed: true });
      });
  });
}

describe("idempotency keys in a database", () => {
  it("are a 503 with Retry-After while another process writes to a file of SQLite for too long", async () => {
    await using folder = await temporaryFolder();
    const openAt = (handler: ShopHandler) => {
      const db = OrderDatabase.on(sqlite(folder.file("shop.db"), { waitMs: 20 }));
      return startOrders(new DatabaseIdempotencyStore(db), (ctx) => handler(db, ctx));
    };
    const [entered, gate] = [new Gate(), new Gate()];
    await using one = await openAt(async (...args) => {
      entered.open();
      await gate.passed;
      return place(...args);
    });
    await using two = await openAt(place);
    const first = order(one);
    await entered.passed;
    const refused = await order(two);
    gate.open();

    expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([503, "1"]);
    expect((await first).status).to.equal(201);
    expect(await see(order(two))).to.include({ status: 201, isReplayed: true });
  });

  it("work where a plugin renames columns", async () => {
    const db = new OrderDatabase(sqlite(":memory:"), {
      migrations: [idempotencyMigrations],
      migrate: true,
      plugins: [new CamelCasePlugin()],
    });
    await using app = await startOrders(new DatabaseIdempotencyStore(db), () => "x");
    await order(app);

    expect(await see(order(app))).to.include({ text: "x", isReplayed: true });
  });

  it("are not a unique violation of the handler", async () => {
    const db = OrderDatabase.on(sqlite(":memory:"));
    await using app = await startOrders(new DatabaseIdempotencyStore(db), async () => {
      await db.run("create unique index once on orders (article)");
      await db.add("tea", "ada");
      const error = await rejectionOf(db.transaction(() => db.add("tea", "ada")));
      return String(error instanceof UniqueViolationError);
    });

    expect(await see(order(app))).to.include({ status: 200, text: "true" });
    expect(await db.articles()).to.deep.equal(["tea"]);
  });
});
