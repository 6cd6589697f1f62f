/**
 * Queued mails as jobs: `mailQueue(jobs)` is the option `queue` of a mailer, and `mailJobs([…])` is the provider that sends the mails, in
 * each process that runs jobs. Inside a transaction a mail exists only if the transaction commits.
 *
 * A job is retried while no recipient has the mail. As soon as some have it, the others get a job of their own, with the same Message-ID.
 * A mail that the server refuses for good goes to the dead letters.
 *
 * @example
 * providers: [
 *   provide(Mailer).useFactory((resolve) => mailerFromEnv({ from, queue: mailQueue(resolve(Jobs)) })),
 *   mailJobs([Welcome, PasswordReset]),
 * ]
 */
import { type Binding, provide } from "../di/provide.js";
import { Handles } from "../jobs/handles.js";
import { FinalJobError } from "../jobs/job-context.js";
import { job } from "../jobs/job.js";
import { Jobs } from "../jobs/jobs.js";
import { tracing } from "../tracing/tracing.js";
import { MailContentError, MailRefusedError } from "./mail-error.js";
import { readQueuedMail, type MailQueue, type QueuedMailData } from "./mail-queue.js";
import type { MailClass } from "./mail.js";
import { Mailer } from "./mailer.js";

const log = tracing.target("framework::mail");

/** The job of a queued mail. */
interface MailJob extends QueuedMailData {
  /** How often it was sent to a part of its recipients. */
  readonly round?: number;
}

/** 20 attempts, about nine hours, while no recipient has the mail. */
const sendMail = job<MailJob>("framework.mail");

/** The times between the rounds: a minute, doubled up to an hour; 12 rounds are about eight hours. */
const FIRST_DELAY_MS = 60_000;
const LONGEST_DELAY_MS = 3_600_000;
const MAX_ROUNDS = 12;

export function mailQueue(jobs: Jobs): MailQueue {
  return {
    async add(mail) {
      await jobs.dispatch(sendMail, mail);
    },
  };
}

/** @param mails the classes that this process can send; a queued mail of another class waits for a process that knows it */
export function mailJobs(mails: readonly MailClass[]): Binding {
  return provide(MailJobs).useFactory((resolve) => new MailJobs(resolve(Mailer), resolve(Jobs), mails));
}

class MailJobs {
  constructor(
    private readonly mailer: Mailer,
    private readonly jobs: Jobs,
    private readonly mails: readonly MailClass[],
  ) {}

  @Handles(sendMail)
  async send(queued: MailJob): Promise<void> {
    const { rejected } = await this.sendOnce(queued);
    const only = rejected.filter(({ isTemporary }) => isTemporary).map(({ address }) => address);
    if (only.length === 0) return;
    const { round = 0 } = queued;
    if (round >= MAX_ROUNDS) {
      log.warn("mail given up", { message_id: queued.id, recipients: only.length });
      return;
    }
    const delay = Math.min(FIRST_DELAY_MS * 2 ** round, LONGEST_DELAY_MS);
    await this.jobs.dispatch(sendMail, { ...queued, only, round: round + 1 }, { delay });
  }

  private async sendOnce(queued: MailJob) {
    try {
      return await this.mailer.send(readQueuedMail(queued, this.mails));
    } catch (error) {
      // Waiting mends neither of these two errors.
      if (error instanceof MailRefusedError || error instanceof MailContentError)
        throw new FinalJobError(error.message, { cause: error });
      throw error;
    }
  }
}
