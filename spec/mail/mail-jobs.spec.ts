/** Queued mails as jobs: in an application with a database, and over refusals of the mail server. */

import { Application, Clock, provide } from "@stagecraft/framework";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Jobs, MemoryJobs } from "@stagecraft/framework/jobs";
import {
  Mail,
  Mailer,
  type MailMessage,
  MailRefusedError,
  type MailResult,
  MailUnavailableError,
  MemoryMailer,
  type RefusedRecipient,
} from "@stagecraft/framework/mail";
import { mailJobs, mailQueue } from "@stagecraft/framework/mail/jobs";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { temporaryFolder } from "../db/shop-database.js";
import { JobsDatabase, startedTables } from "../jobs/jobs-database.js";
import { until } from "../support/until.js";

class Welcome extends Mail<{ name: string }> {
  subject() {
    return `Welcome, ${this.data.name}`;
  }

  text() {
    return "A text";
  }
}

const FROM = "shop@example.org";
const TO = ["ada@example.org", "bob@example.org"];
const welcome = () => new Welcome({ name: "Ada" }).to(TO);

/** A transport that says for each attempt what becomes of the recipients. */
class ScriptedMailer extends Mailer {
  readonly attempts: (readonly string[])[] = [];

  constructor(
    jobs: Jobs,
    private readonly reply: (message: MailMessage, attempt: number) => readonly RefusedRecipient[],
  ) {
    super({ from: FROM, queue: mailQueue(jobs) });
  }

  override start(): void {}

  override stop(): void {}

  protected override async deliver(message: MailMessage): Promise<MailResult> {
    const { recipients, messageId } = message;
    this.attempts.push([messageId, ...recipients]);
    const rejected = this.reply(message, this.attempts.length);
    const refused = new Set(rejected.map(({ address }) => address));
    const accepted = recipients.filter((address) => !refused.has(address));
    return { messageId, accepted, rejected, unknown: [] };
  }
}

function application(reply: ConstructorParameters<typeof ScriptedMailer>[1], clock = new FakeClock()) {
  const builder = Application.create().provide(
    provide(Clock).useValue(clock),
    provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs({ clock }) })),
    provide(Mailer).useFactory((resolve) => new ScriptedMailer(resolve(Jobs), reply)),
    mailJobs([Welcome]),
  );
  return { builder, clock };
}

const deferred = (address: string): RefusedRecipient => ({ address, status: 450, isTemporary: true });

describe("mails that jobs send", () => {
  it("exist only if the transaction commits", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await startedTables(sqlite(file));
    const builder = Application.create().provide(
      Jobs,
      provide(JobsDatabase).useFactory(() => new JobsDatabase(sqlite(file))),
      provide(Mailer).useFactory((resolve) => new MemoryMailer({ from: FROM, queue: mailQueue(resolve(Jobs)) })),
      mailJobs([Welcome]),
    );
    await using app = await testApp(builder);
    const [db, mailer] = [app.resolve(JobsDatabase), app.resolve(Mailer) as MemoryMailer];

    const failed = db.transaction(async () => {
      await mailer.queue(new Welcome({ name: "Eve" }).to(TO));
      throw new Error("rolled back");
    });
    expect(await failed.catch(String)).to.equal("Error: rolled back");
    const { messageId } = await db.transaction(() => mailer.queue(welcome()));
    await until(() => mailer.sent.length > 0);
    await until(async () => (await app.resolve(Jobs).counts()).running === 0);

    expect(mailer.sent.map(({ subject }) => subject)).to.deep.equal(["Welcome, Ada"]);
    expect(mailer.expectSent(Welcome)).to.include({ messageId });
    expect(mailer.queued.map(({ subject }) => subject)).to.deep.equal(["Welcome, Ada"]);
  });

  it("are sent again only to the deferred recipients, with the same Message-ID", async () => {
    const { builder, clock } = application((_message, attempt) => (attempt < 3 ? [deferred("bob@example.org")] : []));
    await using app = await testApp(builder);
    const mailer = app.resolve(Mailer) as ScriptedMailer;

    const { messageId } = await mailer.queue(welcome());
    await until(async () => {
      await clock.advanceAsync(5000);
      return mailer.attempts.length === 3;
    });

    expect(mailer.attempts).to.deep.equal([
      [messageId, ...TO],
      [messageId, "bob@example.org"],
      [messageId, "bob@example.org"],
    ]);
    await until(async () => (await app.resolve(Jobs).counts()).running === 0);
    expect(await app.resolve(Jobs).counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });

  it("are tried again as a whole while the transport fails", async () => {
    const { builder, clock } = application((_message, attempt) => {
      if (attempt < 3) throw new MailUnavailableError("down");
      return [];
    });
    await using app = await testApp(builder);
    const mailer = app.resolve(Mailer) as ScriptedMailer;

    await mailer.queue(welcome());
    await until(async () => {
      await clock.advanceAsync(1000);
      return mailer.attempts.length === 3;
    });

    expect(new Set(mailer.attempts.map(String)).size).to.equal(1);
  });

  it("go to the dead letters when they are refused for good, without an address in the reason", async () => {
    const { builder } = application(({ messageId, recipients }) => {
      const rejected = recipients.map((address) => ({ address, status: 550, isTemporary: false }));
      throw new MailRefusedError("the mail server refused all recipients (550)", {
        messageId,
        accepted: [],
        rejected,
        unknown: [],
      });
    });
    await using app = await testApp(builder);
    const jobs = app.resolve(Jobs);

    await app.resolve(Mailer).queue(welcome());
    await until(async () => (await jobs.counts()).dead === 1);

    const [dead] = await jobs.dead();
    expect(dead?.reason).to.include("refused all recipients (550)").and.not.include("@");
    expect((app.resolve(Mailer) as ScriptedMailer).attempts).to.have.length(1);
    expect(app.logs.transcript()).to.not.include("ada@").and.not.include("Welcome, Ada");
  });

  it("wait while no process knows their mail class", async () => {
    const { builder } = application(() => []);
    class Unknown extends Welcome {}
    await using app = await testApp(builder);
    const jobs = app.resolve(Jobs);

    await app.resolve(Mailer).queue(new Unknown({ name: "Ada" }).to(TO));
    await until(async () => (await jobs.counts()).waiting === 1);

    expect(await jobs.counts()).to.deep.equal({ waiting: 1, running: 0, dead: 0 });
  });
});
