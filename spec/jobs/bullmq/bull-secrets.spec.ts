/** An application with jobs in BullMQ and mails over SMTP. Payloads and mails hold a secret, and Redis, handlers and the mail server fail. */
import { Application, type ApplicationBuilder, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Mail, Mailer, type OutgoingMail } from "@stagecraft/framework/mail";
import { mailJobs, mailQueue } from "@stagecraft/framework/mail/jobs";
import { SmtpMailer } from "@stagecraft/framework/mail/smtp";
import { expectNoLeak, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Redis } from "ioredis";
import { MailServer } from "../../support/mail-server.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { until } from "../../support/until.js";

const CANARY = "canary4711bull";
const work = job<{ readonly content: string; readonly fails: boolean }>("spec.work", undefined, { attempts: 1 });
const unhandled = job<string>("spec.unhandled");

class Worker {
  ended = 0;

  @Handles(work)
  async run({ fails }: { readonly content: string; readonly fails: boolean }) {
    this.ended += 1;
    if (fails) throw new Error("the work has failed");
  }
}

class Letter extends Mail<{ content: string }> {
  subject() {
    return `About ${this.data.content}`;
  }

  text() {
    return this.data.content;
  }
}

function letter(content: string, ...to: readonly string[]): OutgoingMail {
  return new Letter({ content }).to(to.map((name) => `${name}${content}@example.org`));
}

function application(redis: string, port: number, routes: Routes): ApplicationBuilder {
  return Application.create()
    .routes(routes)
    .provide(
      Worker,
      provide(Jobs).useFactory(() => new Jobs({ store: new BullJobs({ url: redis }), queues: ["default", "mail"] })),
      provide(Mailer).useFactory(
        (resolve) =>
          new SmtpMailer({
            host: "127.0.0.1",
            port,
            security: "plain",
            from: "shop@example.org",
            queue: mailQueue(resolve(Jobs)),
          }),
      ),
      mailJobs([Letter]),
    )
    .requestId()
    .accessLog()
    .metrics()
    .catchPanic()
    .errorMapping();
}

describe("jobs in BullMQ and mails over SMTP", function () {
  this.timeout(60_000);
  this.slow(10_000);
  before(function () {
    needRedis(this);
  });

  it("log no payload, address and content, also if Redis, a handler and the mail server refuse them", async () => {
    await using redis = await RedisServer.start();
    const ends = [250, 554, "close"] as const;
    let mails = 0;
    await using server = await MailServer.start({
      reply: (address) => (address.startsWith("refused") ? 550 : undefined),
      end: () => ends[mails++ % ends.length],
    });
    let jobs: Jobs | undefined;
    let mailer: Mailer | undefined;
    const works: Readonly<Record<string, (content: string) => Promise<unknown> | undefined>> = {
      done: (content) => jobs?.dispatch(work, { content, fails: false }, { key: content }),
      failed: (content) => jobs?.dispatch(work, { content, fails: true }),
      unknown: (content) => jobs?.dispatch(unhandled, content),
      large: (content) => jobs?.dispatch(unhandled, content.repeat(5000)),
      queued: (content) => mailer?.queue(letter(content, "refused")),
      partly: (content) => mailer?.send(letter(content, "a", "refused", "c")),
      refused: (content) => mailer?.send(letter(content, "a")),
      closed: (content) => mailer?.send(letter(content, "b")),
      full: (content) => jobs?.dispatch(work, { content, fails: false }),
      fullKeyed: (content) => jobs?.dispatch(work, { content, fails: false }, { key: `${content}2` }),
    };
    const routes = Object.entries(works).map(([path, run]) =>
      Route.post(`/${path}`, async (ctx: Context) => {
        await run(await ctx.text());
        return "done";
      }),
    );
    await using app = await testApp(application(redis.url, server.port, new Routes(routes)));
    jobs = app.resolve(Jobs);
    mailer = app.resolve(Mailer);
    const client = new Redis(redis.url);

    const statuses: Record<string, number> = {};
    for (const path of Object.keys(works)) {
      if (path === "full") {
        await until(async () => (await jobs?.dead())?.length === 2);
        await client.config("SET", "maxmemory", "1");
      }
      const answer = await app.post(`/${path}`, { body: CANARY });
      statuses[path] = answer.status;
      expect(await answer.text()).not.to.include(CANARY);
    }
    await client.config("SET", "maxmemory", "0");
    client.disconnect();
    const letters = await jobs.dead();

    expect(statuses).to.deep.equal({
      done: 200,
      failed: 200,
      unknown: 200,
      large: 500,
      queued: 200,
      partly: 200,
      refused: 500,
      closed: 200,
      full: 500,
      fullKeyed: 500,
    });
    for (const { reason } of letters) expect(reason).not.to.include(CANARY);
    await expectNoLeak(app, CANARY);
    expect(app.logs.lines().join("\n")).to.include("OOM");
  });
});
