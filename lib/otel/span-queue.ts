/**
 * Sends the spans that have ended: in batches, a second after they came or when a batch is full, and the next when the one before has
 * arrived or is lost; what waits at a flush goes at once. Whatever does not fit, or cannot be delivered, is counted and gone.
 *
 * In place of the SDK's batching processor, which drops in silence, cannot say whether what it flushes arrived, and sends from within
 * the request that happens to fill the batch.
 */
import { AsyncResource } from "node:async_hooks";
import type { AttributeValue } from "@opentelemetry/api";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Clock, Timer } from "../runtime/clock.js";
import type { Delivery, DroppedSpans } from "./delivery.js";

// The spans that wait to be sent, and how much of them there is: bounded in number and in text, so that whatever is recorded, a
// collector that takes nothing costs so much memory and no more. Text is counted in UTF-16 code units.

/** Some 2 KiB each, beside their text. */
export const MAX_WAITING_SPANS = 16_384;
export const MAX_WAITING_TEXT = 32 * 2 ** 20;
export const MAX_BATCH_SPANS = 512;
/** A collector takes 4 MiB at once unless told otherwise; these are 3 MiB at most, and no span has more attributes than go into it. */
export const MAX_BATCH_TEXT = 2 ** 20;
/** What a value takes on the wire, and in memory, beside its text. */
const VALUE = 8;

export class WaitingSpans {
  #spans: ReadableSpan[] = [];
  #text = 0;

  get count(): number {
    return this.#spans.length;
  }

  /** Whether there is a batch. */
  get isFull(): boolean {
    return this.#spans.length >= MAX_BATCH_SPANS || this.#text >= MAX_BATCH_TEXT;
  }

  /** `false` where there is no room for it. */
  add(span: ReadableSpan): boolean {
    const text = textOf(span);
    if (this.#spans.length >= MAX_WAITING_SPANS || this.#text + text > MAX_WAITING_TEXT) return false;
    this.#spans.push(span);
    this.#text += text;
    return true;
  }

  /** The oldest, at least one where any waits. */
  take(): ReadableSpan[] {
    if (this.#spans.length <= MAX_BATCH_SPANS && this.#text <= MAX_BATCH_TEXT) return this.#takeAll();
    let text = 0;
    let count = 0;
    for (const span of this.#spans) {
      const more = textOf(span);
      if (count === MAX_BATCH_SPANS || (count > 0 && text + more > MAX_BATCH_TEXT)) break;
      text += more;
      count++;
    }
    this.#text -= text;
    return this.#spans.splice(0, count);
  }

  #takeAll(): ReadableSpan[] {
    const all = this.#spans;
    this.#spans = [];
    this.#text = 0;
    return all;
  }
}

function textOf({ name, status, attributes }: ReadableSpan): number {
  let length = name.length + (status.message?.length ?? 0);
  for (const key in attributes) length += key.length + lengthOf(attributes[key]);
  return length;
}

function lengthOf(value: AttributeValue | undefined): number {
  if (typeof value === "string") return VALUE + value.length;
  if (!Array.isArray(value)) return VALUE;
  return value.reduce<number>((length, element) => length + lengthOf(element ?? undefined), VALUE);
}

/** Milliseconds. */
export const BATCH_DELAY_MS = 1000;

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
    else if (this.#waiting.count === 1) this.#outside.runInAsyncScope(() => this.#arm(BATCH_DELAY_MS));
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
    if (this.#waiting.count > 0) this.#arm(this.#waiting.isFull ? 0 : BATCH_DELAY_MS);
  }
}
