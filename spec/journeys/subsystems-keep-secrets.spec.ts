/** One application with the five subsystems. Each gets a secret in its content, once in work that succeeds and once in work that fails. */
import { Application, Cache, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { cacheKey, MemoryCache } from "@stagecraft/framework/cache";
import { Database } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Handles, job, Jobs, jobsMigrations } from "@stagecraft/framework/jobs";
import { Mail, Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { mailJobs, mailQueue } from "@stagecraft/framework/mail/jobs";
import { MemoryStorage, Storage } from "@stagecraft/framework/storage";
import { expectNoLeak, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { until } from "../support/until.js";

const CANARY = "canary4711subsystems";

class ShopDatabase extends Database<{ notes: { text: string } }> {}

const notes = {
  name: "notes",
  up: (db: ShopDatabase["query"]) =>
    db.schema
      .createTable("notes")
      .addColumn("text", "text", (text) => text.unique())
      .execute(),
};

class Letter extends Mail<{ content: string }> {
  subject() {
    return `About ${this.data.content}`;
  }

  text() {
    return this.data.content;
  }
}

const work = job<{ readonly content: string; readonly fails: boolean }>("spec.work", undefined, { attempts: 1 });

class Worker {
  ended = 0;

  @Handles(work)
  async run({ fails }: { readonly content: string; readonly fails: boolean }) {
    this.ended += 1;
    if (fails) throw new Error("the work has failed");
  }
}

const PARTS = ["database", "cache", "storage", "jobs", "mail"] as const;
const KEY = cacheKey<string>("note");

describe("the subsystems of an application", function () {
  this.timeout(60_000);

  it("show no bind, payload, cached value, file or mail in log, spans, metrics and responses", async () => {
    const database = new ShopDatabase(sqlite(":memory:"), { migrations: [notes, jobsMigrations], migrate: true });
    const [cache, storage, worker] = [new MemoryCache(), new MemoryStorage(), new Worker()];
    let jobs: Jobs | undefined;
    let mailer: Mailer | undefined;
    const works: Readonly<Record<(typeof PARTS)[number], (content: string) => Promise<unknown>>> = {
      database: (text) => database.query.insertInto("notes").values({ text }).execute(),
      cache: (content) => cache.remember(KEY.of(content), 1000, async () => content, { tags: [content] }),
      storage: (content) => storage.put(`files/${content}`, content, { type: "text/plain", metadata: { content } }),
      jobs: async (content) =>
        jobs?.dispatchAll(work, [
          { content, fails: false },
          { content, fails: true },
        ]),
      mail: (content) => mailer?.queue(new Letter({ content }).to(`${content}@example.org`)) ?? Promise.resolve(),
    };
    const failures: typeof works = {
      database: (text) => database.query.insertInto("notes").values([{ text }, { text }]).execute(),
      cache: (content) => cache.remember(KEY.of(`${content}2`), 1000, () => Promise.reject(new Error("no source"))),
      storage: (content) => storage.get(`files/${content}-missing`),
      jobs: (content) => jobs?.dispatch(work, { content: content.repeat(5000), fails: false }) ?? Promise.resolve(),
      mail: (content) =>
        mailer?.send(new Letter({ content: `${content}\r\nBcc: a@b.org` }).to("a@b.org")) ?? Promise.resolve(),
    };
    const route = (path: string, all: typeof works) =>
      PARTS.map((part) =>
        Route.post(`/${path}/${part}`, async (ctx: Context) => {
          await all[part](await ctx.text());
          return "done";
        }),
      );
    await using app = await testApp(
      Application.create()
        .routes(new Routes([...route("works", works), ...route("fails", failures)]))
        .provide(
          provide(ShopDatabase).useValue(database),
          provide(Cache).useValue(cache),
          provide(Storage).useValue(storage),
          provide(Worker).useValue(worker),
          Jobs,
          provide(Mailer).useFactory(
            (resolve) => new MemoryMailer({ from: "shop@example.org", queue: mailQueue(resolve(Jobs)) }),
          ),
          mailJobs([Letter]),
        )
        .requestId()
        .traceContext()
        .accessLog()
        .metrics()
        .catchPanic()
        .errorMapping(),
    );
    jobs = app.resolve(Jobs);
    mailer = app.resolve(Mailer);
    const sent = mailer as MemoryMailer;

    const statuses: Record<string, readonly number[]> = {};
    for (const part of PARTS) {
      const responses = [];
      for (const path of ["works", "fails"]) responses.push(await app.post(`/${path}/${part}`, { body: CANARY }));
      statuses[part] = responses.map(({ status }) => status);
    }
    await until(() => worker.ended >= 2 && sent.sent.length >= 1);
    await until(async () => (await jobs?.dead())?.length === 1);

    expect(statuses).to.deep.equal({
      database: [200, 409],
      cache: [200, 500],
      storage: [200, 404],
      jobs: [200, 500],
      mail: [200, 422],
    });
    await expectNoLeak(app, CANARY);
    const log = app.logs.lines().join("\n");
    for (const target of ["db", "cache", "storage", "jobs", "mail"]) expect(log).to.contain(`"framework::${target}`);
  });
});
