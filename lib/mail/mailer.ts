/**
 * Sends mails. Provide one transport for this class, and inject the class: `MemoryMailer` and `FileMailer` of
 * `@stagecraft/framework/mail`, `SmtpMailer` of `@stagecraft/framework/mail/smtp`.
 *
 * `send` returns when the transport has responded. A request should not wait for a mail server, and a mail must not be sent for a
 * transaction that rolls back: `queue` makes it a job. A mail is recorded by its Message-ID and by the numbers of its recipients, never by
 * an address or by its content.
 *
 * @example
 * constructor(private readonly mailer: Mailer) {}
 * async signUp(user: User) { await this.mailer.queue(new Welcome({ name: user.name }).to(user.email)); }
 */
import { FrameworkError } from "../errors/framework-error.js";
import type { OptionNames } from "../errors/option-names.js";
import { setupError } from "../errors/setup-error.js";
import { checkWholeNumber } from "../errors/whole-number.js";
import { currentCommitScope } from "../lifecycle/commit-scope.js";
import { Operations, type SubsystemHost } from "../lifecycle/operations.js";
import { Subsystem } from "../lifecycle/subsystem.js";
import { currentWorkScope } from "../lifecycle/work-scope.js";
import { untilAborted } from "../runtime/abortable.js";
import { type Clock, MAX_TIMER_MS, SystemClock } from "../runtime/clock.js";
import { markHandled } from "../runtime/mark-handled.js";
import { tracing } from "../tracing/tracing.js";
import { getDomain, readMailbox, type MailAddress, type Mailbox } from "./address.js";
import type { MailStorage } from "./attachment.js";
import { MailUnavailableError } from "./mail-error.js";
import { DEFAULT_MAX_BYTES } from "./mail-limits.js";
import { createMessage, type MailMessage } from "./mail-message.js";
import { missingQueue, writeQueuedMail, type MailQueue } from "./mail-queue.js";
import { MailRecords } from "./mail-records.js";
import type { MailResult } from "./mail-result.js";
import type { OutgoingMail } from "./mail.js";

const log = tracing.target("framework::mail");

export interface MailerOptions {
  /** The sender of every mail that names no other. */
  readonly from?: MailAddress;
  /** The time for a mail in milliseconds, from its creation to the response of the transport; 30 000 unless set. */
  readonly timeoutMs?: number;
  /** The maximum number of bytes of text, HTML and attachments of one mail together; 10 485 760 (10 MiB) unless set. */
  readonly maxBytes?: number;
  /** Keeps the mails of `queue`. */
  readonly queue?: MailQueue;
  /** Reads attachments that are keys of a storage. */
  readonly storage?: MailStorage;
  /** The name in health checks and events; the name of the class unless set. */
  readonly name?: string;
  /** The clock of the application unless set. */
  readonly clock?: Clock;
}

/** The names of `MailerOptions`, for the check of a transport's options. */
export const MAILER_OPTIONS: OptionNames<MailerOptions> = {
  from: true,
  timeoutMs: true,
  maxBytes: true,
  queue: true,
  storage: true,
  name: true,
  clock: true,
};

const DEFAULT_TIMEOUT_MS = 30_000;

export abstract class Mailer extends Subsystem {
  readonly kind = "mail";
  override readonly name: string;
  override readonly followsRequests = true;

  protected clock: Clock;
  protected readonly timeoutMs: number;
  private readonly maxBytes: number;
  private readonly from: Mailbox | undefined;
  private operations: Operations | undefined;
  private records: MailRecords | undefined;

  /** @throws MailContentError `E_MAIL_ADDRESS` for `from`; FrameworkError `E_MAIL_OPTION` for a limit that is not a whole number above 0 */
  constructor(protected readonly options: MailerOptions = {}) {
    super();
    this.name = options.name ?? new.target.name;
    this.clock = options.clock ?? new SystemClock();
    this.timeoutMs = checkMailOption("timeoutMs", options.timeoutMs ?? DEFAULT_TIMEOUT_MS, MAX_TIMER_MS);
    this.maxBytes = checkMailOption("maxBytes", options.maxBytes ?? DEFAULT_MAX_BYTES, 2 ** 30);
    this.from = options.from === undefined ? undefined : readSender(options.from);
  }

  /** Hands the message over. It settles soon after `signal` aborts, and rejects only if no recipient may have got the mail. */
  protected abstract deliver(message: MailMessage, signal: AbortSignal): Promise<MailResult>;

  override prepare(host: SubsystemHost): void {
    if (this.options.clock === undefined) this.clock = host.clock;
    this.operations = new Operations({ target: "framework::mail", span: "framework.mail.send" }, host);
  }

  /**
   * Sends the mail now. It resolves if at least one recipient was accepted or may have got the mail.
   *
   * @throws MailContentError for a mail that is not valid; MailRefusedError if every recipient was refused for good; MailUnavailableError
   * if the transport cannot be reached, or took too long; the reason of the request's signal
   */
  send(mail: OutgoingMail): Promise<MailResult> {
    return markHandled(this.sendReported(mail));
  }

  /**
   * Sends the mail later, by a job. Inside a transaction the mail is queued only if the transaction commits.
   *
   * @throws FrameworkError `E_MAIL_QUEUE` without a queue, for data that JSON changes, and above 64 KiB; the errors of the queue
   */
  queue(mail: OutgoingMail): Promise<{ readonly messageId: string }> {
    return markHandled(this.enqueue(mail));
  }

  /** The option `from`. @internal */
  get sender(): MailAddress | undefined {
    return this.options.from;
  }

  /** The mails that were recorded, the oldest first. @internal */
  get recorded(): MailRecords | undefined {
    return this.records;
  }

  /** From now on the last mails stay in memory, for a test or for the preview page. @internal */
  record(maxMails: number): MailRecords {
    return (this.records ??= new MailRecords(maxMails));
  }

  /** Creates the message that the preview page shows for an example. @internal */
  preview(mail: OutgoingMail, signal: AbortSignal): Promise<MailMessage> {
    return this.make(mail, signal);
  }

  protected async enqueue(mail: OutgoingMail): Promise<{ readonly messageId: string }> {
    const { queue } = this.options;
    if (queue === undefined) throw missingQueue();
    const messageId = this.getMessageId(mail);
    const addRecord = await this.queuedRecord(mail);
    await queue.add(writeQueuedMail(mail, this.getSender(mail), this.clock.now()));
    afterCommit(addRecord);
    return { messageId };
  }

  /** Creates the message of a queued mail if mails are recorded. The returned function records it. */
  protected async queuedRecord(mail: OutgoingMail): Promise<() => void> {
    const { records } = this;
    if (records === undefined) return () => {};
    const message = await this.make(mail, new AbortController().signal);
    return () => records.add({ ...message, mail: mail.mail, state: "queued", result: undefined });
  }

  /** @throws FrameworkError `E_MAIL_SENDER` */
  protected getMessageId(mail: OutgoingMail): string {
    return `<${mail.id}@${getDomain(this.getSender(mail))}>`;
  }

  private async sendReported(mail: OutgoingMail): Promise<MailResult> {
    const fields = { message_id: this.getMessageId(mail) };
    const send = (): Promise<MailResult> => this.sendInTime(mail);
    return this.operations === undefined ? send() : this.operations.run("send", send, fields);
  }

  private async sendInTime(mail: OutgoingMail): Promise<MailResult> {
    const limit = new AbortController();
    const timer = this.clock.setTimeout(() => limit.abort(tooLate(this.timeoutMs)), this.timeoutMs);
    const request = currentWorkScope()?.signal;
    const signal = request === undefined ? limit.signal : AbortSignal.any([request, limit.signal]);
    try {
      signal.throwIfAborted();
      const message = await untilAborted(this.make(mail, signal), signal);
      const result = await this.deliver(message, signal);
      this.records?.add({ ...message, mail: mail.mail, state: "sent", result });
      logResult(message.name, result);
      return result;
    } finally {
      timer.cancel();
    }
  }

  private make(mail: OutgoingMail, signal: AbortSignal): Promise<MailMessage> {
    const { maxBytes, options } = this;
    return createMessage(mail, {
      from: this.getSender(mail),
      maxBytes,
      storage: options.storage,
      now: this.clock.now(),
      signal,
    });
  }

  private getSender({ from, mail }: OutgoingMail): Mailbox {
    const mailSender = mail.from?.();
    const sender = from ?? (mailSender === undefined ? this.from : readMailbox(mailSender, "from"));
    if (sender !== undefined) return sender;
    throw withoutSender(this.constructor.name);
  }
}

/** The fault of the application, not of the client whose request sends the mail. */
function withoutSender(mailer: string): FrameworkError {
  const fix = `give the mailer the option from: new ${mailer}({ from: "shop@example.org" })`;
  return new FrameworkError(`a mail needs a sender: ${fix}`, { code: "E_MAIL_SENDER" });
}

/** Runs the work after the commit, because a mail of a transaction that rolls back is not queued. */
export function afterCommit(work: () => void): void {
  const scope = currentCommitScope();
  if (scope === undefined) work();
  else scope.afterCommit(work);
}

function logResult(mail: string, { messageId, accepted, rejected, unknown }: MailResult): void {
  const counts = { accepted: accepted.length, rejected: rejected.length, unknown: unknown.length };
  const isComplete = rejected.length === 0 && unknown.length === 0;
  log[isComplete ? "info" : "warn"](isComplete ? "mail sent" : "mail sent in part", {
    message_id: messageId,
    mail,
    ...counts,
  });
}

function tooLate(timeoutMs: number): MailUnavailableError {
  return new MailUnavailableError(`the mail was not sent in ${timeoutMs} ms`, "E_MAIL_TIMEOUT");
}

function readSender(from: MailAddress): Mailbox {
  try {
    return readMailbox(from, "from");
  } catch (error) {
    throw error instanceof FrameworkError ? setupError(error) : error;
  }
}

/** @throws FrameworkError `E_MAIL_OPTION` */
export function checkMailOption(name: string, value: number, max: number): number {
  return checkWholeNumber("E_MAIL_OPTION", `${name} of a mailer`, value, [1, max]);
}
