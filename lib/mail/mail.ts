/**
 * A kind of mail: a class with typed data that derives the subject, the text and the HTML from `this.data`. A mail depends on its data
 * alone, so it can be previewed with example data, and created again in another process by a job.
 *
 * @example
 * export class Welcome extends Mail<{ name: string; link: string }> {
 *   subject() { return `Welcome, ${this.data.name}`; }
 *   text() { return `Hello ${this.data.name},\n\nconfirm your address: ${this.data.link}\n`; }
 *   override html() { return html`<p>Hello ${this.data.name}, <a href="${this.data.link}">confirm your address</a>.</p>`; }
 *
 *   static previews = { "a new member": () => new Welcome({ name: "Ada", link: "https://example.org/confirm" }) };
 * }
 *
 * await mailer.send(new Welcome({ name, link }).to(user.email));
 */
import { randomBytes } from "node:crypto";
import { readMailbox, type MailAddress, type Mailbox } from "./address.js";
import type { MailAttachment } from "./attachment.js";
import type { MailHtml } from "./html.js";
import { MailContentError } from "./mail-error.js";
import { MAX_RECIPIENTS } from "./mail-limits.js";

export abstract class Mail<D = void> {
  readonly data: D;

  constructor(...[data]: D extends void ? [] : [data: D]) {
    // A mail class without a type of data has no data.
    this.data = data as D;
  }

  /** At most 500 characters on one line. */
  abstract subject(): string | Promise<string>;

  /** The content for programs that show no HTML. At most 1 MiB. */
  abstract text(): string | Promise<string>;

  /** The same content as HTML; without it the mail is plain text. At most 1 MiB. */
  html?(): MailHtml | Promise<MailHtml>;

  attachments?(): readonly MailAttachment[] | Promise<readonly MailAttachment[]>;

  /**
   * Further headers, for example `List-Unsubscribe`. The mailer writes the headers of the addresses, the subject and the content itself.
   */
  headers?(): Readonly<Record<string, string>>;

  /** The sender of mails of this class; the option `from` of the mailer unless set. */
  from?(): MailAddress;

  /**
   * Addresses the mail. The result has its Message-ID: every attempt with the same result is the same mail.
   *
   * @throws MailContentError `E_MAIL_ADDRESS` for an invalid address, for none, and for more than 100
   */
  to(recipients: MailAddress | readonly MailAddress[], options: MailOptions = {}): OutgoingMail<this> {
    return new OutgoingMail(this, { ...options, to: recipients }, randomBytes(18).toString("base64url"));
  }
}

export interface MailOptions {
  readonly cc?: MailAddress | readonly MailAddress[];
  /** Recipients whom no other recipient sees. */
  readonly bcc?: MailAddress | readonly MailAddress[];
  readonly replyTo?: MailAddress;
  readonly from?: MailAddress;
}

/** The recipients as the application gave them. A queue stores this form. */
export interface MailAddresses extends MailOptions {
  readonly to: MailAddress | readonly MailAddress[];
}

/** A class of mails. `previews` are examples by name, each with its data. */
export interface MailClass<M extends Mail<unknown> = Mail<unknown>> {
  new (data: never): M;
  readonly name: string;
  readonly previews?: Readonly<Record<string, () => Mail<unknown>>>;
}

/** The data that a queue stores beside the mail itself. */
export interface QueuedMailState {
  /** The time of the header `Date`, in milliseconds: that of the call of `queue`. */
  readonly date?: number;
  /** The addresses that have not got the mail yet. */
  readonly only?: readonly string[];
}

/** A mail with its recipients. `mail.to(…)` creates it. */
export class OutgoingMail<M extends Mail<unknown> = Mail<unknown>> {
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly bcc: readonly Mailbox[];
  readonly replyTo: Mailbox | undefined;
  readonly from: Mailbox | undefined;

  /** @internal Use `mail.to`. */
  constructor(
    readonly mail: M,
    addresses: MailAddresses,
    readonly id: string,
    /** Set for a queued mail. */
    readonly queued: QueuedMailState = {},
  ) {
    this.to = readList(addresses.to, "to");
    this.cc = readList(addresses.cc ?? [], "cc");
    this.bcc = readList(addresses.bcc ?? [], "bcc");
    this.replyTo = addresses.replyTo === undefined ? undefined : readMailbox(addresses.replyTo, "replyTo");
    this.from = addresses.from === undefined ? undefined : readMailbox(addresses.from, "from");
    const count = this.recipients.length;
    if (count === 0) throw new MailContentError("E_MAIL_ADDRESS", "a mail needs a recipient: to is empty");
    if (count > MAX_RECIPIENTS) throw tooManyRecipients(count);
  }

  /** The addresses of To, Cc and Bcc, each once. For a queued mail, the addresses that have not got it. */
  get recipients(): readonly string[] {
    const { only } = this.queued;
    const all = [...new Set([...this.to, ...this.cc, ...this.bcc].map(({ address }) => address))];
    return only === undefined ? all : all.filter((address) => only.includes(address));
  }
}

/** The name of a mail in logs, previews and queues. */
export function getMailName(mail: Mail<unknown>): string {
  return mail.constructor.name;
}

function readList(given: MailAddress | readonly MailAddress[], field: string): readonly Mailbox[] {
  const list = isList(given) ? given : [given];
  if (list.length > MAX_RECIPIENTS) throw tooManyRecipients(list.length);
  return list.map((each, at) => readMailbox(each, list === given ? `${field}[${at}]` : field));
}

function isList(given: MailAddress | readonly MailAddress[]): given is readonly MailAddress[] {
  return Array.isArray(given);
}

function tooManyRecipients(count: number): MailContentError {
  return new MailContentError(
    "E_MAIL_ADDRESS",
    `a mail has at most ${MAX_RECIPIENTS} recipients, not ${count}: send several mails`,
  );
}
