/**
 * Queued mails as jobs: `mailQueue(jobs)` is the option `queue` of a mailer, and `mailJobs([…])` is the provider that sends the mails, in
 * each process that runs jobs. Inside a transaction a mail exists only if the transaction commits.
 *
 * A job is retried while no recipient has the mail. As soon as some have it, a further job sends it to the others, with the same
 * Message-ID; the first job waits until the queue has accepted that job. A mail that the server refuses for good goes to the dead letters.
 *
 * @example
 * providers: [
 *   provide(Mailer).useFactory((resolve) => mailerFromEnv({ from, queue: mailQueue(resolve(Jobs)) })),
 *   mailJobs([Welcome, PasswordReset]),
 * ]
 */
import { markListed } from "../di/unlisted.js";
import { type Binding, provide } from "../di/provide.js";
import { FrameworkError } from "../errors/framework-error.js";
import { Handles } from "../jobs/handles.js";
import { FinalJobError, type JobContext } from "../jobs/job-context.js";
import { job } from "../jobs/job.js";
import { Jobs } from "../jobs/jobs.js";
import { MAX_PAYLOAD_BYTES } from "../jobs/payload.js";
import { Clock, sleep } from "../runtime/clock.js";
import { tracing } from "../tracing/tracing.js";
import { MailContentError, MailRefusedError } from "./mail-error.js";
import { readQueuedMail, type MailQueue, type QueuedMailData } from "./mail-queue.js";
import type { MailClass } from "./mail.js";
import { Mailer } from "./mailer.js";

const log = tracing.target("framework::mail");

/** The job of a queued mail. */
interface MailJob extends QueuedMailData {
  /** The number of times it was sent to a part of its recipients. */
  readonly round?: number;
}

/** 20 attempts, about nine hours, while no recipient has the mail. The timeout leaves time for the mailer, and for a queue that fails. */
const sendMail = job<MailJob>("framework.mail", undefined, { timeoutMs: 600_000 });

/** The times between the rounds: a minute, doubled up to an hour; 12 rounds are about eight hours. */
const FIRST_DELAY_MS = 60_000;
const MAX_DELAY_MS = 3_600_000;
const MAX_ROUNDS = 12;
/** The time between two tries to queue the job of the other recipients. */
const PAUSE_MS = 1000;

export function mailQueue(jobs: Jobs): MailQueue {
  return {
    async add(mail) {
      checkSize(mail);
      await jobs.dispatch(sendMail, mail);
    },
  };
}

/** @param mails the classes that this process can send; a queued mail of another class waits for a process that knows it */
export function mailJobs(mails: readonly MailClass[]): Binding {
  return provide(MailJobs).useFactory((resolve) => new MailJobs(resolve(Mailer), resolve(Jobs), resolve(Clock), mails));
}

class MailJobs {
  static {
    // A process that queues mails and sends none imports this file too.
    markListed(this);
  }

  constructor(
    private readonly mailer: Mailer,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly mails: readonly MailClass[],
  ) {}

  @Handles(sendMail)
  async send(queued: MailJob, { signal }: JobContext): Promise<void> {
    const { rejected } = await this.sendOnce(queued);
    const only = rejected.filter(({ isTemporary }) => isTemporary).map(({ address }) => address);
    if (only.length === 0) return;
    const { round = 0 } = queued;
    if (round >= MAX_ROUNDS) {
      log.warn("mail given up", { message_id: queued.id, recipients: only.length });
      return;
    }
    await this.sendLater({ ...queued, only, round: round + 1 }, signal);
  }

  /** A failure of the queue must not end the job: its next attempt would send the mail to all again. */
  private async sendLater(rest: MailJob & { readonly round: number }, signal: AbortSignal): Promise<void> {
    const delay = Math.min(FIRST_DELAY_MS * 2 ** (rest.round - 1), MAX_DELAY_MS);
    // A try that failed may have added the job, so it has a key.
    const options = { delay, key: `${rest.id}.${rest.round}`, unique: "until-done" } as const;
    for (;;) {
      try {
        await this.jobs.dispatch(sendMail, rest, options);
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn("mail not queued yet for the others", { message_id: rest.id, recipients: rest.only?.length, error });
        // After an abort the job is dispatched a last time.
        await sleep(this.clock, PAUSE_MS, signal).catch(() => {});
      }
    }
  }

  private async sendOnce(queued: MailJob) {
    try {
      return await this.mailer.send(readQueuedMail(queued, this.mails));
    } catch (error) {
      // A retry cannot succeed after either of these two errors.
      if (error instanceof MailRefusedError || error instanceof MailContentError)
        throw new FinalJobError(error.message, { cause: error });
      throw error;
    }
  }
}

/** The job of a part of the recipients also names them, and must not be refused for its size when some have the mail. */
function checkSize(mail: QueuedMailData): void {
  const { to, cc = [], bcc = [] } = mail;
  const only = [...to, ...cc, ...bcc].map((each) => (typeof each === "string" ? each : each.address));
  const bytes = Buffer.byteLength(JSON.stringify({ ...mail, only, round: MAX_ROUNDS } satisfies MailJob));
  if (bytes <= MAX_PAYLOAD_BYTES) return;
  const detail = `${mail.mail} has ${bytes} bytes of JSON with its recipients, more than ${MAX_PAYLOAD_BYTES}`;
  throw new FrameworkError(`${detail}: store the data, and queue its key`, { code: "E_MAIL_QUEUE" });
}
