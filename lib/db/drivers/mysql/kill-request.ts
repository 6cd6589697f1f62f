/**
 * Asks the server to end the statement of a connection: `KILL QUERY` on a control connection with the same login and TLS.
 */
import { ControlSemaphore } from "../control-semaphore.js";
import type { MysqlClient } from "./mysql-client.js";

export class KillRequests {
  private readonly semaphore = new ControlSemaphore();

  constructor(private readonly open: (signal: AbortSignal) => Promise<MysqlClient>) {}

  /**
   * True if the request was sent. Never rejects. `isRunning` is called again when the control connection is open, so that the request does
   * not end a later statement. The abort of the signal ends the request at once.
   */
  send(threadId: number, isRunning: () => boolean, signal: AbortSignal): Promise<boolean> {
    return this.semaphore.run(async () => {
      try {
        return !signal.aborted && isRunning() && (await this.kill(threadId, isRunning, signal));
      } catch {
        return false;
      }
    });
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
