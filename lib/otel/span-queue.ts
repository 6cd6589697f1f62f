/**
 * The spans that have ended and are not sent yet: at most `MAX_WAITING`, sent in batches, one at a time, a second after they came or
 * when a batch is full. Whatever does not fit, or cannot be delivered, is counted and gone: a collector that is down costs no memory.
 *
 * In place of the SDK's batching processor, which drops in silence, cannot say whether what it flushes arrived, and sends from within
 * the request that happens to fill the batch.
 */
import { AsyncResource } from "node:async_hooks";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Clock, Timer } from "../kernel/clock.js";
import type { Delivery } from "./delivery.js";
import type { DroppedSpans } from "./dropped-spans.js";

/** Some 2 KiB each. */
export const MAX_WAITING = 16_384;
export const BATCH = 512;
/** Milliseconds. */
export const BATCH_DELAY = 1000;

export class SpanQueue implements SpanProcessor {
  readonly #delivery: Delivery;
  readonly #dropped: DroppedSpans;
  readonly #clock: Clock;
  // Timers and connections are made from here: made from within a request, they would keep what belongs to it for as long as they last.
  readonly #outside = new AsyncResource("Telemetry");
  #waiting: ReadableSpan[] = [];
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
    if (this.#waiting.length >= MAX_WAITING) return this.#dropped.add(1);
    const count = this.#waiting.push(span);
    if (this.#sending) return;
    if (count === 1) this.#outside.runInAsyncScope(() => this.#arm(BATCH_DELAY));
    else if (count === BATCH) this.#outside.runInAsyncScope(() => this.#arm(0));
  }

  async forceFlush(): Promise<void> {
    this.#timer?.cancel();
    const batches: Promise<void>[] = [];
    while (this.#waiting.length > 0) batches.push(this.#delivery.send(this.#takeBatch()));
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
    if (this.#sending || this.#waiting.length === 0) return;
    this.#sending = true;
    await this.#delivery.send(this.#takeBatch());
    this.#sending = false;
    if (this.#waiting.length > 0) this.#arm(this.#waiting.length < BATCH ? BATCH_DELAY : 0);
  }

  #takeBatch(): ReadableSpan[] {
    if (this.#waiting.length > BATCH) return this.#waiting.splice(0, BATCH);
    const batch = this.#waiting;
    this.#waiting = [];
    return batch;
  }
}
