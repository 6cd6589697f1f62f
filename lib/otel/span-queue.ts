/**
 * Sends the spans that have ended: in batches, a second after they came or when a batch is full, and the next when the one before has
 * arrived or is lost; what waits at a flush goes at once. Whatever does not fit, or cannot be delivered, is counted and gone.
 *
 * In place of the SDK's batching processor, which drops in silence, cannot say whether what it flushes arrived, and sends from within
 * the request that happens to fill the batch.
 */
import { AsyncResource } from "node:async_hooks";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Clock, Timer } from "../runtime/clock.js";
import type { Delivery } from "./delivery.js";
import type { DroppedSpans } from "./dropped-spans.js";
import { WaitingSpans } from "./waiting-spans.js";

/** Milliseconds. */
export const BATCH_DELAY = 1000;

export class SpanQueue implements SpanProcessor {
  readonly #delivery: Delivery;
  readonly #dropped: DroppedSpans;
  readonly #clock: Clock;
  // Timers and connections are made from here: made from within a request, they would keep what belongs to it for as long as they last.
  readonly #outside = new AsyncResource("Telemetry");
  readonly #waiting = new WaitingSpans();
  #timer: Timer | undefined;
  #sending = false;
  #closed = false;

  constructor(delivery: Delivery, dropped: DroppedSpans, clock: Clock) {
    this.#delivery = delivery;
    this.#dropped = dropped;
    this.#clock = clock;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#closed) return;
    const wasFull = this.#waiting.isFull;
    if (!this.#waiting.add(span)) return this.#dropped.add(1);
    if (this.#sending || wasFull) return;
    if (this.#waiting.isFull) this.#outside.runInAsyncScope(() => this.#arm(0));
    else if (this.#waiting.count === 1) this.#outside.runInAsyncScope(() => this.#arm(BATCH_DELAY));
  }

  async forceFlush(): Promise<void> {
    this.#timer?.cancel();
    const batches: Promise<void>[] = [];
    while (this.#waiting.count > 0) batches.push(this.#delivery.send(this.#waiting.take()));
    await Promise.all(batches);
    await this.#delivery.settled();
  }

  /** Takes no more spans, without a word, and sends those that wait. */
  shutdown(): Promise<void> {
    this.#closed = true;
    return this.#outside.runInAsyncScope(() => this.forceFlush());
  }

  #arm(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimeout(() => void this.#sendBatch(), delayMs, { background: true });
  }

  async #sendBatch(): Promise<void> {
    if (this.#sending || this.#waiting.count === 0) return;
    this.#sending = true;
    await this.#delivery.send(this.#waiting.take());
    this.#sending = false;
    if (this.#waiting.count > 0) this.#arm(this.#waiting.isFull ? 0 : BATCH_DELAY);
  }
}
