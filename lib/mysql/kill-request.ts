/**
 * Asks the server to end what a connection runs: `KILL QUERY` on a connection of its own, with the same login and TLS. At most two at once
 * for a pool: an overloaded server must not get twice as many connections.
 */
import type { MysqlClient } from "./mysql-client.js";

const MAX_AT_ONCE = 2;

export class KillRequests {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly open: (signal: AbortSignal) => Promise<MysqlClient>) {}

  /**
   * True if the request was sent. Never rejects. `isRunning` is asked again when the control connection is up: a later statement must not
   * be hit. When the signal aborts, it ends at once.
   */
  async send(threadId: number, isRunning: () => boolean, signal: AbortSignal): Promise<boolean> {
    if (this.running >= MAX_AT_ONCE) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.running++;
    try {
      return !signal.aborted && isRunning() && (await this.kill(threadId, isRunning, signal));
    } catch {
      return false;
    } finally {
      this.running--;
      this.waiting.shift()?.();
    }
  }

  private async kill(threadId: number, isRunning: () => boolean, signal: AbortSignal): Promise<boolean> {
    const control = await this.open(signal);
    const abort = (): void => control.destroy();
    signal.addEventListener("abort", abort, { once: true });
    try {
      if (!isRunning()) return false;
      await control.send(`kill query ${threadId}`);
      return true;
    } finally {
      signal.removeEventListener("abort", abort);
      control.close();
    }
  }
}
