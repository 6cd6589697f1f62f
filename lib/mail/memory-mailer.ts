/**
 * The `Mailer` that keeps mails in memory and sends none: for tests, and for development with the preview page. The number of mails is
 * bounded, and the oldest mail is removed first.
 *
 * @example
 * const mailer = new MemoryMailer({ from: "shop@example.org" });
 * await using app = await testApp(ShopModule, provide(Mailer).useValue(mailer));
 * await app.post("/sign-up", { form: { email: "ada@example.org" } });
 * const mail = mailer.expectSent(Welcome, { to: "ada@example.org" });
 * expect(mail.subject).to.equal("Welcome, Ada");
 */
import { AssertionError } from "node:assert";
import type { MailMessage } from "./mail-message.js";
import type { MailRecord, MailRecords } from "./mail-records.js";
import { toAcceptedResult, type MailResult } from "./mail-result.js";
import type { Mail, MailClass, OutgoingMail } from "./mail.js";
import { afterCommit, checkMailOption, Mailer, type MailerOptions } from "./mailer.js";

export interface MemoryMailerOptions extends MailerOptions {
  /** The maximum number of mails in memory; 100 unless set. */
  readonly maxMails?: number;
}

const DEFAULT_MAX_MAILS = 100;

/** The mail that a test expects. */
export interface ExpectedMail {
  /** An address of To, Cc or Bcc. */
  readonly to?: string;
}

export class MemoryMailer extends Mailer {
  private readonly mails: MailRecords;

  /** @throws as `Mailer`; FrameworkError `E_MAIL_OPTION` for `maxMails` */
  constructor(options: MemoryMailerOptions = {}) {
    super(options);
    const { maxMails = DEFAULT_MAX_MAILS } = options;
    this.mails = this.record(checkMailOption("maxMails", maxMails, Number.MAX_SAFE_INTEGER));
  }

  /** The mails that were sent, the oldest first. */
  get sent(): readonly MailRecord[] {
    return this.mails.all.filter(({ state }) => state === "sent");
  }

  /** The mails that were queued, the oldest first. Without a queue they stay here. */
  get queued(): readonly MailRecord[] {
    return this.mails.all.filter(({ state }) => state === "queued");
  }

  clear(): void {
    this.mails.clear();
  }

  /** The last mail of the class that was sent. @throws AssertionError with the mails that were sent or queued instead */
  expectSent<M extends Mail<unknown>>(kind: MailClass<M>, expected: ExpectedMail = {}): MailRecord<M> {
    return this.expectRecord("sent", kind, expected);
  }

  /** The last mail of the class that was queued. @throws AssertionError with the mails that were sent or queued instead */
  expectQueued<M extends Mail<unknown>>(kind: MailClass<M>, expected: ExpectedMail = {}): MailRecord<M> {
    return this.expectRecord("queued", kind, expected);
  }

  /** @throws AssertionError if a mail was sent or queued */
  expectNone(): void {
    if (this.mails.all.length > 0)
      throw new AssertionError({ message: `no mail was expected; there is ${describeRecords(this.mails.all)}` });
  }

  override start(): void {}

  override stop(): void {}

  protected override deliver({ messageId, recipients }: MailMessage): Promise<MailResult> {
    return Promise.resolve(toAcceptedResult(messageId, recipients));
  }

  protected override async enqueue(mail: OutgoingMail): Promise<{ readonly messageId: string }> {
    if (this.options.queue !== undefined) return super.enqueue(mail);
    const messageId = this.getMessageId(mail);
    afterCommit(await this.queuedRecord(mail));
    return { messageId };
  }

  private expectRecord<M extends Mail<unknown>>(
    state: MailRecord["state"],
    kind: MailClass<M>,
    expected: ExpectedMail,
  ): MailRecord<M> {
    const matches = this.mails.all.filter((record): record is MailRecord<M> => isExpected(record, kind, expected));
    const found = matches.findLast((record) => record.state === state);
    if (found !== undefined) return found;
    const wanted = `a ${kind.name}${expected.to === undefined ? "" : ` to ${expected.to}`}`;
    if (matches.length > 0) {
      const fix = state === "sent" ? "use expectQueued" : "use expectSent";
      throw new AssertionError({ message: `${wanted} was ${matches[0]?.state ?? ""}, not ${state}: ${fix}` });
    }
    throw new AssertionError({ message: `${wanted} was not ${state}; there is ${describeRecords(this.mails.all)}` });
  }
}

function isExpected<M extends Mail<unknown>>(record: MailRecord, kind: MailClass<M>, { to }: ExpectedMail): boolean {
  return record.mail instanceof kind && (to === undefined || record.recipients.includes(to));
}

function describeRecords(records: readonly MailRecord[]): string {
  if (records.length === 0) return "no mail";
  return records.map(({ name, state, recipients }) => `${name} to ${recipients.join(", ")} (${state})`).join("; ");
}
