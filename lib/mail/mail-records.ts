/**
 * The mails that this process has sent or queued, the newest last: for tests and for the preview page. They are bounded in count and in
 * bytes, and the oldest is removed first. A mailer records mails only after `record` was called.
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
  private readonly records: MailRecord[] = [];
  private bytes = 0;

  constructor(private readonly maxMails: number) {}

  get all(): readonly MailRecord[] {
    return this.records;
  }

  add(record: MailRecord): void {
    this.records.push(record);
    this.bytes += record.bytes.length;
    while (this.records.length > this.maxMails || this.bytes > MAX_BYTES) {
      const oldest = this.records.shift();
      if (oldest === undefined) return;
      this.bytes -= oldest.bytes.length;
    }
  }

  clear(): void {
    this.records.length = 0;
    this.bytes = 0;
  }
}
