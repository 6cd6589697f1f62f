/**
 * Mails that are sent later, by a job: the port that `mailer.queue` writes to, and the JSON of a queued mail. The queue stores the name of
 * the class, the data and the addresses; the process that sends the mail creates its content. So the data of a queued mail must be JSON.
 */
import { FrameworkError } from "../errors/framework-error.js";
import { findJsonLoss } from "../runtime/json-loss.js";
import type { MailAddress, Mailbox } from "./address.js";
import { getMailName, OutgoingMail, type Mail, type MailClass, type QueuedMailState } from "./mail.js";

/** Stores mails until they are sent. The option `queue` of a mailer is one. */
export interface MailQueue {
  /** Inside a transaction the mail exists only if the transaction commits. */
  add(mail: QueuedMailData): Promise<void>;
}

/** A queued mail as JSON. */
export interface QueuedMailData extends QueuedMailState {
  /** The name of the class. */
  readonly mail: string;
  readonly data?: unknown;
  readonly id: string;
  readonly date: number;
  readonly to: readonly MailAddress[];
  readonly cc?: readonly MailAddress[];
  readonly bcc?: readonly MailAddress[];
  readonly replyTo?: MailAddress;
  readonly from: MailAddress;
}

/**
 * @param from the sender, @param date the time of the header `Date`: another process sends the same mail
 * @throws FrameworkError `E_MAIL_QUEUE` for data that JSON changes, such as a `Date`
 */
export function writeQueuedMail(
  { mail, id, to, cc, bcc, replyTo }: OutgoingMail,
  from: Mailbox,
  date: number,
): QueuedMailData {
  return {
    mail: getMailName(mail),
    ...(mail.data === undefined ? {} : { data: toJson(mail) }),
    id,
    date,
    to: to.map(toMailAddress),
    ...(cc.length === 0 ? {} : { cc: cc.map(toMailAddress) }),
    ...(bcc.length === 0 ? {} : { bcc: bcc.map(toMailAddress) }),
    ...(replyTo === undefined ? {} : { replyTo: toMailAddress(replyTo) }),
    from: toMailAddress(from),
  };
}

/** @throws FrameworkError `E_MAIL_QUEUE` for a class that is not in `classes`; MailContentError for addresses that are not valid */
export function readQueuedMail(queued: QueuedMailData, classes: readonly MailClass[]): OutgoingMail {
  const found = classes.find(({ name }) => name === queued.mail);
  if (found === undefined)
    throw queueError(
      `${JSON.stringify(queued.mail)} is not a mail of this process: add the class to the mails of the queue`,
    );
  // The data was written from a mail of this class.
  const mail = new found(queued.data as never);
  const { to, cc = [], bcc = [], replyTo, from, id, date, only } = queued;
  if (!/^[\w-]{24}$/.test(id)) throw queueError("the id of a queued mail is not valid");
  const addresses = { to, cc, bcc, from, ...(replyTo === undefined ? {} : { replyTo }) };
  return new OutgoingMail(mail, addresses, id, { date, ...(only === undefined ? {} : { only }) });
}

/** The error of `mailer.queue` without the option `queue`. */
export function missingQueue(): FrameworkError {
  return queueError("mailer.queue needs a queue: give the mailer the option queue, or send the mail with mailer.send");
}

function toMailAddress({ name, address }: Mailbox): MailAddress {
  return name === undefined ? address : { name, address };
}

/** JSON converts a `Date` to a text and drops a function, so the mail of the worker would get other data than its type says. */
function toJson(mail: Mail<unknown>): unknown {
  const text = stringify(mail);
  const loss = findJsonLoss(mail.data, "data");
  if (loss !== undefined) throw invalidData(mail, `${loss.path} is ${loss.kind}, which JSON does not keep`);
  return JSON.parse(text) as unknown;
}

function stringify(mail: Mail<unknown>): string {
  try {
    return JSON.stringify(mail.data);
  } catch {
    throw invalidData(mail, "JSON does not take it: it holds itself or a BigInt, or is too deep");
  }
}

function invalidData(mail: Mail<unknown>, fault: string): FrameworkError {
  return queueError(`the data of ${getMailName(mail)} cannot be queued: ${fault}`);
}

function queueError(message: string): FrameworkError {
  return new FrameworkError(message, { code: "E_MAIL_QUEUE" });
}
