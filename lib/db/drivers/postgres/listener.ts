/**
 * A connection that listens for `NOTIFY` on one channel, beside the pool. It is checked regularly: a server that vanished, for example in a
 * failover, does not answer `select 1`. Then a new connection takes its place. Notifications between the two are lost, so `heard` is called
 * for each new connection.
 *
 * Not for messages that must arrive.
 */
import { type Clock, OVERDUE, type Timer, within } from "../../../runtime/clock.js";
import type { PostgresClient } from "./postgres-client.js";

const WATCH_MS = 20_000;
const ANSWER_LIMIT_MS = 5000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

export interface ListenerParts {
  readonly open: () => Promise<PostgresClient>;
  /** A name that needs no quotes. */
  readonly channel: string;
  readonly heard: () => void;
  readonly clock: Clock;
}

export class PostgresListener {
  private client: PostgresClient | undefined;
  private timer: Timer | undefined;
  private failures = 0;
  private hasEnded = false;

  constructor(private readonly parts: ListenerParts) {
    void this.connect();
  }

  end(): void {
    this.hasEnded = true;
    this.timer?.cancel();
    this.client?.close();
  }

  private async connect(): Promise<void> {
    let client: PostgresClient | undefined;
    try {
      client = await this.parts.open();
      await this.listenOn(client);
    } catch {
      client?.destroy();
      this.again();
    }
  }

  private async listenOn(client: PostgresClient): Promise<void> {
    if (this.hasEnded) return client.close();
    this.client = client;
    client.onNotification = this.parts.heard;
    client.onClosed = () => this.lost(client);
    await client.send(`listen ${this.parts.channel}`);
    this.failures = 0;
    this.watch(client);
    this.parts.heard();
  }

  private watch(client: PostgresClient): void {
    this.later(WATCH_MS, async () => {
      const answer = client.send("select 1").catch(() => OVERDUE);
      if ((await within(this.parts.clock, ANSWER_LIMIT_MS, answer)) !== OVERDUE) return this.watch(client);
      client.destroy();
      this.lost(client);
    });
  }

  private lost(client: PostgresClient): void {
    if (this.client === client) this.again();
  }

  private again(): void {
    this.client = undefined;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.failures, LONGEST_PAUSE_MS);
    this.failures += 1;
    this.later(pause, () => this.connect());
  }

  private later(ms: number, work: () => Promise<void>): void {
    this.timer?.cancel();
    if (this.hasEnded) return;
    this.timer = this.parts.clock.setTimeout(() => void work(), ms, { background: true });
  }
}
