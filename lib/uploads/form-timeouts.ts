/** The two time limits of a form: for the whole form, and for the time without a byte. A client that waits for the server is not idle. */
import { RequestTimeoutError } from "../errors/framework-error.js";
import type { Exchange } from "../http/request/exchange.js";
import type { Timer } from "../runtime/clock.js";
import type { CompleteUploadLimits } from "./upload-limits.js";

export class FormTimeouts {
  private readonly total: Timer;
  private idle: Timer;
  private lastByteAt: number;

  constructor(
    private readonly exchange: Exchange,
    private readonly limits: CompleteUploadLimits,
    private readonly fail: (error: RequestTimeoutError) => void,
  ) {
    const { clock } = exchange;
    this.lastByteAt = clock.monotonic();
    this.total = clock.setTimeout(() => this.stop(`took longer than ${limits.timeoutMs} ms`), limits.timeoutMs);
    this.idle = clock.setTimeout(() => this.checkIdle(), limits.idleMs);
  }

  /** Bytes have arrived. */
  refresh(): void {
    this.lastByteAt = this.exchange.clock.monotonic();
  }

  /** @param fault the reason of a refusal, which continues "The form" */
  stop(fault?: string): void {
    this.total.cancel();
    this.idle.cancel();
    if (fault !== undefined) this.fail(new RequestTimeoutError(`The form ${fault}.`, { code: "E_UPLOAD_TIMEOUT" }));
  }

  /** One timer checks from time to time, instead of one timer for each chunk. */
  private checkIdle(): void {
    const { clock, incoming } = this.exchange;
    // While the disk is slower than the client, the client waits.
    if (incoming.isPaused()) this.refresh();
    const left = this.lastByteAt + this.limits.idleMs - clock.monotonic();
    if (left <= 0) this.stop(`had no byte for ${this.limits.idleMs} ms`);
    else this.idle = clock.setTimeout(() => this.checkIdle(), left);
  }
}
