/** A queued mail that a part of its recipients has got, while the queue does not take the job of the others. */
import { Application, Clock, provide } from "@stagecraft/framework";
import { Jobs, MemoryJobs } from "@stagecraft/framework/jobs";
import { Mail, Mailer, type MailMessage, type MailResult } from "@stagecraft/framework/mail";
import { mailJobs, mailQueue } from "@stagecraft/framework/mail/jobs";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { rejectionOf } from "../support/rejection-of.js";

const TO = ["ada@example.org", "bob@example.org"];
const FAILURES = 20;

class Letter extends Mail<{ text: string }> {
  subject() {
    return "A letter";
  }

  text() {
    return this.data.text;
  }
}

/** A transport that defers Bob at the first attempt. */
class DeferringMailer extends Mailer {
  readonly attempts: (readonly string[])[] = [];

  override start(): void {}

  override stop(): void {}

  protected override async deliver({ recipients, messageId }: MailMessage): Promise<MailResult> {
    this.attempts.push(recipients);
    const isFirst = this.attempts.length === 1;
    const deferred = recipients.filter((address) => isFirst && address.startsWith("bob"));
    return {
      messageId,
      accepted: recipients.filter((address) => !deferred.includes(address)),
      rejected: deferred.map((address) => ({ address, status: 450, isTemporary: true })),
      unknown: [],
    };
  }
}

async function started() {
  const clock = new FakeClock();
  const store = new MemoryJobs({ clock });
  const builder = Application.create().provide(
    provide(Clock).useValue(clock),
    provide(Jobs).useFactory(() => new Jobs({ store })),
    provide(Mailer).useFactory(
      (resolve) => new DeferringMailer({ from: "shop@example.org", queue: mailQueue(resolve(Jobs)) }),
    ),
    mailJobs([Letter]),
  );
  const app = await testApp(builder);
  // The provider above made it.
  return { app, clock, store, mailer: app.resolve(Mailer) as DeferringMailer };
}

describe("a mail that only a part of its recipients has received", () => {
  it("is not sent to that part again while the queue refuses the job of the others, and is sent once to the others", async () => {
    const { app, clock, store, mailer } = await started();
    await using _app = app;
    const add = store.add.bind(store);
    await mailer.queue(new Letter({ text: "A text" }).to(TO));
    let refusals = 0;
    store.add = async (jobs) => {
      // Every second time the job is added, and the answer is lost.
      const results = refusals % 2 === 1 ? await add(jobs) : [];
      if (refusals >= FAILURES) return add(jobs);
      refusals += 1;
      throw new Error(`down, with ${results.length} jobs added`);
    };
    await clock.advanceAsync(300_000);

    expect(refusals).to.equal(FAILURES);
    expect(mailer.attempts).to.deep.equal([TO, ["bob@example.org"]]);
    expect(await store.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });

  it("is refused at once if the job of the other recipients could be too large", async () => {
    const { app, mailer } = await started();
    await using _app = app;
    const recipients = Array.from({ length: 100 }, (_, number) => `${"a".repeat(60)}${number}@example.org`);
    const letter = new Letter({ text: "x".repeat(55_000) });
    const refused = await rejectionOf(mailer.queue(letter.to(recipients)));
    await mailer.queue(letter.to("ada@example.org"));

    expect(refused).to.include({ code: "E_MAIL_QUEUE" });
  });
});
