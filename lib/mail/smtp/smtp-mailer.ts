/**
 * The `Mailer` over a mail server (SMTP); the entry point `@stagecraft/framework/mail/smtp`. It needs the package `nodemailer`, version 10.1
 * or newer.
 *
 * A mail is tried again only for recipients that the server has neither accepted nor refused for good, and whose outcome is known, with the
 * same Message-ID and the same bytes, while its time lasts.
 *
 * `start` connects once: options that cannot work end the start of the application. A server that is only unreachable at the moment is a
 * warning, since most of an application works without it.
 *
 * @example
 * provide(Mailer).useFactory(() => new SmtpMailer({ host: "smtp.example.org", user, password, from: "shop@example.org" }));
 */
import { sleep } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { MailRefusedError, MailUnavailableError } from "../mail-error.js";
import type { MailMessage } from "../mail-message.js";
import type { MailResult, RefusedRecipient } from "../mail-result.js";
import { Mailer } from "../mailer.js";
import { SmtpFailure } from "./smtp-failure.js";
import { readSmtpOptions, type SmtpMailerOptions, type SmtpSettings } from "./smtp-options.js";
import type { SmtpOutcome } from "./smtp-outcome.js";
import { SmtpPool } from "./smtp-pool.js";

const log = tracing.target("framework::mail::smtp");

const STOP_LIMIT_MS = 3000;
const FIRST_DELAY_MS = 250;

export class SmtpMailer extends Mailer {
  // Not `private`: printing the object would show the password.
  readonly #settings: SmtpSettings;
  readonly #pool: SmtpPool;

  /** @throws as `Mailer`; FrameworkError `E_MAIL_OPTION` for an option that cannot work */
  constructor(options: SmtpMailerOptions) {
    const settings = readSmtpOptions(options);
    const { password: _password, tls: _tls, ...shown } = options;
    super(shown);
    this.#settings = settings;
    this.#pool = new SmtpPool(settings, () => this.clock);
  }

  /** @throws MailUnavailableError if the login, the certificate or the security of the server is not as the options say */
  override async start(): Promise<void> {
    this.#pool.restart();
    try {
      await this.connectOnce(new AbortController().signal);
    } catch (error) {
      if (!(error instanceof SmtpFailure)) throw error;
      if (!error.isTemporary) throw new MailUnavailableError(error.message);
      log.warn("mail server unreachable at the start", { reason: error.message });
    }
  }

  /** Mails that are being sent have 3 seconds to finish. */
  override stop(): Promise<void> {
    return this.#pool.stop(Math.min(STOP_LIMIT_MS, this.timeoutMs));
  }

  override async probe(signal: AbortSignal): Promise<void> {
    try {
      await this.connectOnce(signal);
    } catch (error) {
      throw error instanceof SmtpFailure ? new MailUnavailableError(error.message) : error;
    }
  }

  protected override async deliver(message: MailMessage, signal: AbortSignal): Promise<MailResult> {
    const delivery = new MailDelivery(message);
    for (let attempt = 1; delivery.remaining.length > 0; attempt += 1) {
      await this.attempt(delivery, signal);
      if (attempt >= this.#settings.attempts || delivery.isPermanent || signal.aborted) break;
      // After an abort the next attempt ends at once.
      if (delivery.remaining.length > 0)
        await sleep(this.clock, FIRST_DELAY_MS * 2 ** (attempt - 1), signal).catch(() => {});
    }
    return delivery.result(signal);
  }

  /** One attempt. If a used connection fails before the content is sent, another connection is tried at once. */
  private async attempt(delivery: MailDelivery, signal: AbortSignal): Promise<void> {
    const isStale = await this.sendOnce(delivery, signal, false);
    if (isStale && !signal.aborted) await this.sendOnce(delivery, signal, true);
  }

  /** Returns true if a used connection has failed. */
  private async sendOnce(delivery: MailDelivery, signal: AbortSignal, isFresh: boolean): Promise<boolean> {
    try {
      const { session, isReused } = await this.#pool.take(signal, isFresh);
      const outcome = await session.send(delivery.message, delivery.remaining, signal);
      this.#pool.release(session);
      delivery.add(outcome);
      return isReused && (outcome.failure !== undefined || isShutdown(outcome));
    } catch (error) {
      if (error instanceof SmtpFailure) delivery.fail(error);
      else if (!signal.aborted) throw error;
      return false;
    }
  }

  private async connectOnce(signal: AbortSignal): Promise<void> {
    const { session, isReused } = await this.#pool.take(signal);
    try {
      if (isReused) await session.check(signal);
    } finally {
      this.#pool.release(session);
    }
  }
}

/** 421 for all: the server closes the connection (RFC 5321 section 4.2.3). */
function isShutdown({ accepted, rejected }: SmtpOutcome): boolean {
  return accepted.length === 0 && rejected.length > 0 && rejected.every(({ status }) => status === 421);
}

/** The delivery of one mail over several attempts. */
class MailDelivery {
  remaining: readonly string[];
  private readonly accepted: string[] = [];
  private readonly refused: RefusedRecipient[] = [];
  private readonly unknown: string[] = [];
  /** The last temporary refusal of each recipient that remains. */
  private readonly deferred = new Map<string, RefusedRecipient>();
  private failure: SmtpFailure | undefined;

  constructor(readonly message: MailMessage) {
    this.remaining = message.recipients;
  }

  /** Another attempt would fail in the same way. */
  get isPermanent(): boolean {
    return this.failure?.isTemporary === false;
  }

  add({ accepted, rejected, unknown, failure }: SmtpOutcome): void {
    this.failure = failure;
    this.accepted.push(...accepted);
    this.unknown.push(...unknown);
    this.refused.push(...rejected.filter(({ isTemporary }) => !isTemporary));
    for (const each of rejected) if (each.isTemporary) this.deferred.set(each.address, each);
    const settled = new Set([...this.accepted, ...this.unknown, ...this.refused.map(({ address }) => address)]);
    this.remaining = this.remaining.filter((address) => !settled.has(address));
  }

  fail(failure: SmtpFailure): void {
    this.failure = failure;
  }

  /** @throws MailRefusedError, MailUnavailableError or the reason of the signal where no recipient may have got the mail */
  result(signal: AbortSignal): MailResult {
    const { accepted, unknown, refused, remaining, deferred, failure } = this;
    const open = remaining.map((address) => deferred.get(address) ?? { address, status: 0, isTemporary: true });
    const rejected = [...refused, ...open];
    const result = { messageId: this.message.messageId, accepted, rejected, unknown };
    if (accepted.length > 0 || unknown.length > 0) return result;
    if (remaining.length === 0)
      throw new MailRefusedError(`the mail server refused all recipients (${joinStatuses(rejected)})`, result);
    if (signal.aborted) throw signal.reason;
    throw new MailUnavailableError(
      failure?.message ?? `the mail server accepts no recipient at the moment (${joinStatuses(rejected)})`,
    );
  }
}

function joinStatuses(rejected: readonly RefusedRecipient[]): string {
  return [...new Set(rejected.map(({ status }) => status))].join(", ");
}
