/** The mailers in memory and of files: the contract, the limits of time, queues, assertions and what the log shows. */

import { expect } from "chai";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileMailer, Mail, MemoryMailer, readQueuedMail, type QueuedMailData } from "../../lib/entries/mail.js";
import { inCommitScope } from "../../lib/lifecycle/commit-scope.js";
import { inWorkScope } from "../../lib/lifecycle/work-scope.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { obeysMailer } from "../../lib/testing/contracts/obeys-mailer.js";
import { errorOf } from "../support/error-of.js";
import { eventsOf } from "../support/events-of.js";
import { rejectionOf } from "../support/rejection-of.js";

const FROM = "shop@example.org";
const TO = "ada@example.org";

class Welcome extends Mail<{ name: string }> {
  subject() {
    return `Welcome, ${this.data.name}`;
  }

  text() {
    return `Hello ${this.data.name}`;
  }
}

class Goodbye extends Mail {
  subject() {
    return "Goodbye";
  }

  text() {
    return "Goodbye";
  }
}

class Endless extends Goodbye {
  override text(): never {
    return new Promise(() => {}) as never;
  }
}

const welcome = () => new Welcome({ name: "Ada" }).to(TO);

describe("the mailer in memory", () => {
  it("obeys the contract of a mailer", async () => {
    const mailer = new MemoryMailer({ from: FROM });

    await obeysMailer(mailer, { arrived: () => mailer.sent.map(({ bytes }) => Buffer.from(bytes).toString("latin1")) });
  });

  it("records the last mails", async () => {
    const mailer = new MemoryMailer({ from: FROM, maxMails: 2 });

    for (const name of ["a", "b", "c"]) await mailer.send(new Welcome({ name }).to(TO));

    expect(mailer.sent.map(({ subject }) => subject)).to.deep.equal(["Welcome, b", "Welcome, c"]);
  });

  it("finds a mail by its class and a recipient", async () => {
    const mailer = new MemoryMailer({ from: FROM });
    await mailer.send(welcome());
    await mailer.send(new Welcome({ name: "Eve" }).to("eve@example.org"));

    expect(mailer.expectSent(Welcome, { to: TO }).mail.data.name).to.equal("Ada");
    expect(mailer.expectSent(Welcome).mail.data.name).to.equal("Eve");
  });

  it("reports that a mail was queued if a test expects it sent, and the reverse", async () => {
    const mailer = new MemoryMailer({ from: FROM });
    await mailer.queue(welcome());
    await mailer.send(new Goodbye().to(TO));

    expect(mailer.expectQueued(Welcome).state).to.equal("queued");
    expect(errorOf(() => mailer.expectSent(Welcome)).message).to.equal(
      "a Welcome was queued, not sent: use expectQueued",
    );
    expect(errorOf(() => mailer.expectQueued(Goodbye)).message).to.equal(
      "a Goodbye was sent, not queued: use expectSent",
    );
  });

  it("lists the recorded mails if a mail is missing, or if there is one too many", async () => {
    const mailer = new MemoryMailer({ from: FROM });
    mailer.expectNone();
    expect(errorOf(() => mailer.expectSent(Goodbye)).message).to.equal("a Goodbye was not sent; there is no mail");

    await mailer.send(welcome());

    expect(errorOf(() => mailer.expectSent(Goodbye)).message).to.equal(
      `a Goodbye was not sent; there is Welcome to ${TO} (sent)`,
    );
    expect(errorOf(() => mailer.expectNone()).message).to.equal(
      `no mail was expected; there is Welcome to ${TO} (sent)`,
    );
  });

  it("records a queued mail only if the transaction commits", async () => {
    const mailer = new MemoryMailer({ from: FROM });
    const waiting: (() => unknown)[] = [];
    const scope = { afterCommit: (work: () => unknown) => void waiting.push(work) };

    await inCommitScope(scope, () => mailer.queue(welcome()));
    mailer.expectNone();
    for (const work of waiting) await work();

    mailer.expectQueued(Welcome);
  });
});

describe("the mailer of files", function () {
  this.timeout(60_000);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "mail-"));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const files = () => readdirSync(folder).toSorted();

  it("obeys the contract of a mailer", async () => {
    const mailer = new FileMailer({ folder, from: FROM });
    await mailer.start();
    // Files of the same moment have no order by their names, nor by their times.
    const arrived: string[] = [];
    const send = mailer.send.bind(mailer);
    mailer.send = async (mail) => {
      const before = files();
      const result = await send(mail);
      const made = files().filter((name) => !before.includes(name));
      arrived.push(...made.map((name) => readFileSync(join(folder, name), "latin1")));
      return result;
    };

    await obeysMailer(mailer, { arrived: () => arrived });
  });

  it("creates a folder and files that only their owner may read", async () => {
    const mailer = new FileMailer({ folder: join(folder, "new/mails"), from: FROM });
    await mailer.start();

    await mailer.send(welcome());

    const [name = ""] = readdirSync(join(folder, "new/mails"));
    expect(name).to.match(/^\d{8}T\d{9}Z-[\w-]{24}\.eml$/);
    expect(statSync(join(folder, "new/mails", name)).mode & 0o777).to.equal(0o600);
    expect(statSync(join(folder, "new/mails")).mode & 0o777).to.equal(0o700);
  });

  it("deletes its oldest files, and no other file", async () => {
    const clock = new FakeClock();
    const mailer = new FileMailer({ folder, from: FROM, maxFiles: 2, clock });
    writeFileSync(join(folder, "0-own.eml"), "");

    for (const name of ["a", "b", "c"]) {
      await mailer.send(new Welcome({ name }).to(TO));
      clock.advance(1000);
    }

    expect(files()[0]).to.equal("0-own.eml");
    const left = files().slice(1);
    expect(left.map((name) => /Welcome, \w/.exec(readFileSync(join(folder, name), "utf8"))?.[0])).to.deep.equal([
      "Welcome, b",
      "Welcome, c",
    ]);
  });

  it("fails with the folder and the reason in the message, and leaves no file behind", async () => {
    const blocked = join(folder, "file");
    writeFileSync(blocked, "");

    const failed = await rejectionOf(new FileMailer({ folder: blocked, from: FROM }).send(welcome()));

    expect(failed).to.include({
      code: "E_MAIL_UNAVAILABLE",
      message: `the mail was not written to ${blocked}: EEXIST`,
    });
    expect(files()).to.deep.equal(["file"]);
  });
});

describe("a mailer", () => {
  it("refuses wrong options", () => {
    const cases: readonly (readonly [string, () => unknown])[] = [
      ["E_MAIL_ADDRESS", () => new MemoryMailer({ from: "Shop <shop@example.org>" })],
      ["E_MAIL_OPTION", () => new MemoryMailer({ timeoutMs: 0 })],
      ["E_MAIL_OPTION", () => new MemoryMailer({ maxBytes: 1.5 })],
      ["E_MAIL_OPTION", () => new MemoryMailer({ maxMails: 0 })],
      ["E_MAIL_OPTION", () => new FileMailer({ folder: "" })],
      ["E_MAIL_OPTION", () => new FileMailer({ folder: "a", maxFiles: -1 })],
    ];
    for (const [code, make] of cases) expect(errorOf(make)).to.have.property("code", code);
  });

  it("refuses a mail without a sender, without a recipient and with more than 100", async () => {
    const mailer = new MemoryMailer();
    const failed = await rejectionOf(mailer.send(welcome()));

    expect(failed).to.include({ code: "E_MAIL_SENDER", status: 500 });
    const many = Array.from({ length: 60 }, (_each, at) => `a${at}@example.org`);
    const others = many.map((each) => `b${each}`);
    expect(errorOf(() => new Goodbye().to([]))).to.have.property("code", "E_MAIL_ADDRESS");
    expect(errorOf(() => new Goodbye().to([...many, ...others]))).to.have.property("code", "E_MAIL_ADDRESS");
    expect(errorOf(() => new Goodbye().to(many, { bcc: others }))).to.have.property("code", "E_MAIL_ADDRESS");
  });

  it("stops creating a mail after its timeout", async () => {
    const clock = new FakeClock();
    const mailer = new MemoryMailer({ from: FROM, clock });
    const failed = rejectionOf(mailer.send(new Endless().to(TO)));

    await clock.advanceAsync(30_000);

    expect(await failed).to.include({ code: "E_MAIL_TIMEOUT", status: 503 });
    expect(clock.pending).to.equal(0);
    mailer.expectNone();
  });

  it("stops creating a mail when the request ends", async () => {
    const mailer = new MemoryMailer({ from: FROM });
    const request = new AbortController();
    const send = () => rejectionOf(mailer.send(new Endless().to(TO)));
    const failed = inWorkScope({ signal: request.signal }, send, undefined);

    const reason = new Error("the client left");
    request.abort(reason);

    expect(await failed).to.equal(reason);
  });

  it("logs the Message-ID and numbers, no address and no content", async () => {
    const mailer = new MemoryMailer({ from: FROM });
    const mail = new Welcome({ name: "canary" }).to("canary@example.org", { bcc: "canary2@example.org" });

    const events = await eventsOf(() => mailer.send(mail));

    expect(events).to.deep.equal([
      `INFO framework::mail: mail sent message_id=<${mail.id}@example.org> mail=Welcome accepted=2 rejected=0 unknown=0`,
    ]);
  });
});

describe("a queued mail", () => {
  const clock = new FakeClock();
  const queued: QueuedMailData[] = [];
  const queue = { add: (mail: QueuedMailData) => Promise.resolve(void queued.push(mail)) };

  beforeEach(() => (queued.length = 0));

  it("is JSON from which another process creates the same mail", async () => {
    const mailer = new MemoryMailer({ from: FROM, queue, clock });
    const options = { cc: { name: "Eve", address: "eve@example.org" }, replyTo: "help@example.org" };
    const { messageId } = await mailer.queue(new Welcome({ name: "Ada" }).to(TO, options));

    const read = readQueuedMail(JSON.parse(JSON.stringify(queued[0])) as QueuedMailData, [Goodbye, Welcome]);
    const worker = new MemoryMailer({ from: FROM });
    const sent = await worker.send(read);

    expect(sent.messageId).to.equal(messageId);
    expect(worker.expectSent(Welcome).subject).to.equal("Welcome, Ada");
    expect(worker.expectSent(Welcome).cc).to.deep.equal([options.cc]);
    expect(worker.expectSent(Welcome).replyTo).to.deep.equal({ name: undefined, address: "help@example.org" });
    const [before, after] = [mailer.expectQueued(Welcome), worker.expectSent(Welcome)];
    expect(Buffer.from(after.bytes).equals(before.bytes)).to.equal(true);
  });

  it("is sent only to the recipients that have not received it, with the same headers", async () => {
    const mailer = new MemoryMailer({ from: FROM, queue, clock });
    await mailer.queue(new Welcome({ name: "Ada" }).to([TO, "eve@example.org"]));
    const worker = new MemoryMailer();
    const [kept] = queued;
    if (kept === undefined) throw new Error("nothing was queued");

    const { accepted } = await worker.send(readQueuedMail({ ...kept, only: ["eve@example.org"] }, [Welcome]));

    expect(accepted).to.deep.equal(["eve@example.org"]);
    expect(Buffer.from(worker.expectSent(Welcome).bytes).equals(mailer.expectQueued(Welcome).bytes)).to.equal(true);
  });

  it("is refused if JSON would change its data", async () => {
    class Dated extends Mail<{ value: unknown }> {
      subject() {
        return "Dated";
      }

      text() {
        return "Dated";
      }
    }
    const mailer = new MemoryMailer({ from: FROM, queue, clock });
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;

    for (const value of [new Date(0), new Map(), 1n, Number.NaN, () => 1, { deep: [new Date(0)] }, [undefined], cycle])
      expect(await rejectionOf(mailer.queue(new Dated({ value }).to(TO)))).to.have.property("code", "E_MAIL_QUEUE");
    expect(queued).to.deep.equal([]);
  });

  it("of a class that the process does not know is refused with the name of the class", () => {
    const old = { mail: "Old", id: "x".repeat(24), date: 0, to: [TO], from: FROM };

    expect(errorOf(() => readQueuedMail(old, [Welcome])).message).to.equal(
      '"Old" is not a mail of this process: add the class to the mails of the queue',
    );
  });

  it("needs a mailer with a queue", async () => {
    const failed = await rejectionOf(new FileMailer({ folder: "unused", from: FROM }).queue(welcome()));

    expect(failed).to.have.property("code", "E_MAIL_QUEUE");
  });
});
