/**
 * Sends ended spans in batches: one second after the first span, or as soon as a batch is full. The next batch follows when the one before
 * is delivered or lost; a flush sends all batches at once. Spans beyond the limits are dropped and counted.
 *
 * It replaces the SDK's batching processor, which drops spans without a count, does not report a failed flush, and exports within the
 * request that fills the batch.
 */
import { AsyncResource } from "node:async_hooks";
import type { AttributeValue } from "@opentelemetry/api";
import type { Clock, Timer } from "../../runtime/clock.js";
import type { Delivery, DroppedSpans } from "./delivery.js";
import type { ReadableSpan, SpanProcessor } from "./peers.js";

/** A waiting span takes about 2 KiB of memory beside its text. */
export const MAX_WAITING_SPANS = 16_384;
/** In UTF-16 code units, as all text here. */
export const MAX_WAITING_TEXT = 32 * 2 ** 20;
export const MAX_BATCH_SPANS = 512;
/**
 * At most 3 MiB in UTF-8; a collector accepts 4 MiB by default. A larger span is sent alone in a batch; the limits of attributes bound it.
 */
export const MAX_BATCH_TEXT = 2 ** 20;
export const BATCH_DELAY_MS = 1000;
/** The size of an attribute value on the wire and in memory, beside its text. */
const VALUE_SIZE = 8;

export class SpanQueue implements SpanProcessor {
  private readonly delivery: Delivery;
  private readonly dropped: DroppedSpans;
  private readonly clock: Clock;
  // A timer or a connection that is created within a request would keep the async context of that request in memory.
  private readonly outside = new AsyncResource("Telemetry");
  private readonly waiting = new WaitingSpans();
  private timer: Timer | undefined;
  private isSending = false;
  private isClosed = false;

  constructor(delivery: Delivery, dropped: DroppedSpans, clock: Clock) {
    this.delivery = delivery;
    this.dropped = dropped;
    this.clock = clock;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.isClosed) return;
    const wasFull = this.waiting.isFull;
    if (!this.waiting.add(span)) return this.dropped.add(1);
    if (this.isSending || wasFull) return;
    if (this.waiting.isFull) this.outside.runInAsyncScope(() => this.schedule(0));
    else if (this.waiting.count === 1) this.outside.runInAsyncScope(() => this.schedule(BATCH_DELAY_MS));
  }

  async forceFlush(): Promise<void> {
    this.timer?.cancel();
    const batches: Promise<void>[] = [];
    while (this.waiting.count > 0) batches.push(this.delivery.send(this.waiting.take()));
    await Promise.all(batches);
    await this.delivery.settled();
  }

  /** Sends the waiting spans and ignores later ones. */
  shutdown(): Promise<void> {
    this.isClosed = true;
    return this.outside.runInAsyncScope(() => this.forceFlush());
  }

  private schedule(delayMs: number): void {
    this.timer?.cancel();
    this.timer = this.clock.setTimeout(() => void this.sendBatch(), delayMs, { background: true });
  }

  private async sendBatch(): Promise<void> {
    if (this.isSending || this.waiting.count === 0) return;
    this.isSending = true;
    await this.delivery.send(this.waiting.take());
    this.isSending = false;
    if (this.waiting.count > 0) this.schedule(this.waiting.isFull ? 0 : BATCH_DELAY_MS);
  }
}

/** The spans that wait for their batch, limited in number and in text, so that memory stays bounded without a collector. */
export class WaitingSpans {
  private spans: ReadableSpan[] = [];
  private textLength = 0;

  get count(): number {
    return this.spans.length;
  }

  /** Whether the waiting spans fill a batch. */
  get isFull(): boolean {
    return this.spans.length >= MAX_BATCH_SPANS || this.textLength >= MAX_BATCH_TEXT;
  }

  /** Returns `false`, and does not add the span, if it exceeds a limit. */
  add(span: ReadableSpan): boolean {
    const text = measureText(span);
    if (this.spans.length >= MAX_WAITING_SPANS || this.textLength + text > MAX_WAITING_TEXT) return false;
    this.spans.push(span);
    this.textLength += text;
    return true;
  }

  /** Removes and returns the oldest spans, up to one batch: at least one span if any waits. */
  take(): ReadableSpan[] {
    if (this.spans.length <= MAX_BATCH_SPANS && this.textLength <= MAX_BATCH_TEXT) return this.takeAll();
    let text = 0;
    let count = 0;
    for (const span of this.spans) {
      const more = measureText(span);
      if (count === MAX_BATCH_SPANS || (count > 0 && text + more > MAX_BATCH_TEXT)) break;
      text += more;
      count++;
    }
    this.textLength -= text;
    return this.spans.splice(0, count);
  }

  private takeAll(): ReadableSpan[] {
    const all = this.spans;
    this.spans = [];
    this.textLength = 0;
    return all;
  }
}

function measureText({ name, status, attributes }: ReadableSpan): number {
  let length = name.length + (status.message?.length ?? 0);
  for (const key in attributes) length += key.length + measureValue(attributes[key]);
  return length;
}

function measureValue(value: AttributeValue | undefined): number {
  if (typeof value === "string") return VALUE_SIZE + value.length;
  if (!Array.isArray(value)) return VALUE_SIZE;
  return value.reduce<number>((length, element) => length + measureValue(element ?? undefined), VALUE_SIZE);
}
