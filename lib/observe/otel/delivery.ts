/**
 * Passes batches of spans to the exporter, and tries a batch again where the collector refuses it for now: with back-off, or after the time
 * that the collector names. Tracks the batches in flight, and the number of lost spans with the cause. A failed export never rejects here:
 * the spans of the batch are counted as dropped.
 *
 * OpenTelemetry's exporter makes one attempt over gRPC.
 */
import type { Clock, Timer } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { findRetryDelay } from "./retry-info.js";
import type { ReadableSpan, SpanExporter } from "./peers.js";

/** `ExportResultCode.SUCCESS`. Its package is a dependency of the SDK, not ours. */
const SUCCESS = 0;
/** The status codes RESOURCE_EXHAUSTED and UNAVAILABLE of gRPC. */
const RETRYABLE: ReadonlySet<unknown> = new Set([8, 14]);
/** With the first delay: about half a minute, in which a collector restarts. */
export const MAX_ATTEMPTS = 6;
export const FIRST_DELAY_MS = 1000;
/** A batch is lost where the collector names a longer time. */
export const MAX_DELAY_MS = 300_000;
/** Spreads the attempts of many processes: each delay is up to 20 % shorter or longer. */
const JITTER = 0.2;
const log = tracing.target("framework::otel");

interface FailedExport {
  readonly cause: unknown;
}

/** The spans that were not delivered since the last successful export. */
export interface UndeliveredSpans extends FailedExport {
  readonly spans: number;
}

export class Delivery {
  private readonly inFlight = new Map<Promise<void>, number>();
  /** The waits before the next attempts: each function ends one. */
  private readonly waits = new Map<() => void, Timer>();
  private hasRetries = true;
  private isAbandoned = false;
  private lost: UndeliveredSpans | undefined;

  constructor(
    private readonly exporter: Pick<SpanExporter, "export">,
    private readonly dropped: DroppedSpans,
    private readonly clock: Clock,
  ) {}

  /** `undefined` if the last export succeeded. */
  get undelivered(): UndeliveredSpans | undefined {
    return this.lost;
  }

  /** Resolves when the batch is delivered or lost. */
  send(batch: ReadableSpan[]): Promise<void> {
    const before = this.lost;
    const sent = this.deliver(batch).then((failure) => {
      this.inFlight.delete(sent);
      if (this.isAbandoned) return;
      if (failure !== undefined) this.lose(batch.length, failure.cause);
      // A success ends only an outage that had started before the batch was sent.
      else if (this.lost === before) this.lost = undefined;
    });
    this.inFlight.set(sent, batch.length);
    return sent;
  }

  /** Resolves when no batch is in flight. */
  async settled(): Promise<void> {
    await Promise.all(this.inFlight.keys());
  }

  /** From now on each batch has one attempt. Waiting batches have theirs at once. */
  stopRetries(): void {
    this.hasRetries = false;
    for (const [endWait, timer] of this.waits) {
      timer.cancel();
      endWait();
    }
    this.waits.clear();
  }

  /** Counts the spans in flight as dropped at once, and ignores the later result of their export. */
  abandon(): void {
    this.isAbandoned = true;
    for (const spans of this.inFlight.values()) this.dropped.add(spans);
  }

  private async deliver(batch: ReadableSpan[]): Promise<FailedExport | undefined> {
    for (let attempt = 1; ; attempt++) {
      const failure = await this.export(batch);
      const canRetry = failure !== undefined && this.hasRetries && attempt < MAX_ATTEMPTS;
      const delayMs = canRetry ? findDelay(failure.cause, attempt) : undefined;
      if (delayMs === undefined) return failure;
      await this.wait(delayMs);
    }
  }

  private export(batch: ReadableSpan[]): Promise<FailedExport | undefined> {
    return new Promise((resolve) => {
      try {
        this.exporter.export(batch, ({ code, error }) =>
          resolve((code as number) === SUCCESS ? undefined : { cause: error }),
        );
      } catch (cause) {
        resolve({ cause });
      }
    });
  }

  private wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const fire = (): void => {
        this.waits.delete(resolve);
        resolve();
      };
      this.waits.set(resolve, this.clock.setTimeout(fire, delayMs, { background: true }));
    });
  }

  private lose(spans: number, cause: unknown): void {
    this.dropped.add(spans);
    // One event for each outage. The counter shows the spans that follow.
    if (this.lost === undefined) log.warn("spans not delivered", { spans, error: cause });
    this.lost = { spans: spans + (this.lost?.spans ?? 0), cause };
  }
}

/** The delay before the next attempt, in milliseconds; `undefined` where another attempt would not help. */
function findDelay(cause: unknown, attempt: number): number | undefined {
  const { code, metadata } = (cause ?? {}) as { readonly code?: unknown; readonly metadata?: unknown };
  if (!RETRYABLE.has(code)) return undefined;
  const namedDelayMs = findRetryDelay(metadata);
  if (namedDelayMs !== undefined) return namedDelayMs <= MAX_DELAY_MS ? namedDelayMs : undefined;
  return FIRST_DELAY_MS * 2 ** (attempt - 1) * (1 - JITTER + 2 * JITTER * Math.random());
}

/** The metric that counts dropped spans. */
export const SPANS_DROPPED_TOTAL = "framework_spans_dropped_total";
const HELP = "Spans that were not exported.";

/** The part of `Metrics` that the counter needs. */
export interface SpanCounter {
  describeCounter?(name: string, help: string): void;
  increment(name: string, labels: Readonly<Record<string, string>>, by: number): void;
}

/** Counts the spans that were not exported: the queue was full, or the export failed. Without a counter it has no effect. */
export class DroppedSpans {
  constructor(private readonly counter: SpanCounter | undefined) {
    counter?.describeCounter?.(SPANS_DROPPED_TOTAL, HELP);
    counter?.increment(SPANS_DROPPED_TOTAL, {}, 0);
  }

  /** Never throws. */
  add(count: number): void {
    try {
      this.counter?.increment(SPANS_DROPPED_TOTAL, {}, count);
    } catch {
      // The event and the rejection of `shutdown()` report lost spans too.
    }
  }
}
