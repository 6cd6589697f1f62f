/**
 * A connection outside of the pool that listens for `NOTIFY` on one channel. A regular probe finds a server that has vanished, for example
 * in a failover. Then a new connection replaces it. Notifications between the two are lost, so `onNotification` is called for each new
 * connection.
 *
 * Not for messages that must arrive.
 */
import { type Clock, OVERDUE, type Timer, within } from "../../../runtime/clock.js";
import type { PostgresClient } from "./postgres-client.js";

const PROBE_INTERVAL_MS = 20_000;
const PROBE_TIMEOUT_MS = 5000;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

export interface ListenerParts {
  readonly open: () => Promise<PostgresClient>;
  /** A name that needs no quotes. */
  readonly channel: string;
  readonly onNotification: () => void;
  readonly clock: Clock;
}

export class PostgresListener {
  private client: PostgresClient | undefined;
  private timer: Timer | undefined;
  private failures = 0;
  private isStopped = false;

  constructor(private readonly parts: ListenerParts) {
    void this.connect();
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
    this.client?.close();
  }

  private async connect(): Promise<void> {
    let client: PostgresClient | undefined;
    try {
      client = await this.parts.open();
      await this.listen(client);
    } catch {
      client?.destroy();
      this.reconnectLater();
    }
  }

  private async listen(client: PostgresClient): Promise<void> {
    if (this.isStopped) return client.close();
    this.client = client;
    client.onNotification = this.parts.onNotification;
    client.onClosed = () => this.lost(client);
    await client.send(`listen ${this.parts.channel}`);
    this.failures = 0;
    this.scheduleProbe(client);
    this.parts.onNotification();
  }

  private scheduleProbe(client: PostgresClient): void {
    this.schedule(PROBE_INTERVAL_MS, async () => {
      const response = client.send("select 1").catch(() => OVERDUE);
      if ((await within(this.parts.clock, PROBE_TIMEOUT_MS, response)) !== OVERDUE) return this.scheduleProbe(client);
      client.destroy();
      this.lost(client);
    });
  }

  private lost(client: PostgresClient): void {
    if (this.client === client) this.reconnectLater();
  }

  private reconnectLater(): void {
    this.client = undefined;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.failures, MAX_PAUSE_MS);
    this.failures += 1;
    this.schedule(pause, () => this.connect());
  }

  private schedule(ms: number, work: () => Promise<void>): void {
    this.timer?.cancel();
    if (this.isStopped) return;
    this.timer = this.parts.clock.setTimeout(() => void work(), ms, { background: true });
  }
}
