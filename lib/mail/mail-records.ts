/**
 * The mails that this process has sent or queued, the newest last: for tests and for the preview page. Bounded in count and in bytes; the
 * oldest goes first. A mailer keeps none unless it is asked to.
 */
import type { MailMessage } from "./mail-message.js";
import type { Mail } from "./mail.js";
import type { MailResult } from "./mail-result.js";

/** A mail that was sent or queued. */
export interface MailRecord<M extends Mail<unknown> = Mail<unknown>> extends MailMessage {
  readonly state: "sent" | "queued";
  readonly mail: M;
  /** Undefined for a queued mail, and for one that no recipient got. */
  readonly result: MailResult | undefined;
}

const MAX_BYTES = 67_108_864;

export class MailRecords {
  private readonly kept: MailRecord[] = [];
  private bytes = 0;

  constructor(private readonly maxMails: number) {}

  get all(): readonly MailRecord[] {
    return this.kept;
  }

  add(record: MailRecord): void {
    this.kept.push(record);
    this.bytes += record.bytes.length;
    while (this.kept.length > this.maxMails || this.bytes > MAX_BYTES) {
      const oldest = this.kept.shift();
      if (oldest === undefined) return;
      this.bytes -= oldest.bytes.length;
    }
  }

  clear(): void {
    this.kept.length = 0;
    this.bytes = 0;
  }
}
