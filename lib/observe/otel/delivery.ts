/**
 * Passes batches of spans to the exporter. Tracks the batches in flight, and the number of lost spans with the cause. A failed export never
 * rejects here: the spans of the batch are counted as dropped.
 */
import { tracing } from "../../tracing/tracing.js";
import type { ReadableSpan, SpanExporter } from "./peers.js";

/** `ExportResultCode.SUCCESS`. Its package is a dependency of the SDK, not ours. */
const SUCCESS = 0;
const log = tracing.target("framework::otel");

/** The spans that were not delivered since the last successful export. */
export interface UndeliveredSpans {
  readonly spans: number;
  readonly cause: unknown;
}

export class Delivery {
  private readonly inFlight = new Map<Promise<void>, number>();
  private isAbandoned = false;
  private lost: UndeliveredSpans | undefined;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly dropped: DroppedSpans,
  ) {}

  /** `undefined` if the last export succeeded. */
  get undelivered(): UndeliveredSpans | undefined {
    return this.lost;
  }

  /** Resolves when the batch is delivered or lost. */
  send(batch: ReadableSpan[]): Promise<void> {
    const before = this.lost;
    const sent = this.exportBatch(batch).then((failure) => {
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

  /** Counts the spans in flight as dropped at once, and ignores the later result of their export. */
  abandon(): void {
    this.isAbandoned = true;
    for (const spans of this.inFlight.values()) this.dropped.add(spans);
  }

  private exportBatch(batch: ReadableSpan[]): Promise<{ readonly cause: unknown } | undefined> {
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

  private lose(spans: number, cause: unknown): void {
    this.dropped.add(spans);
    // One event for each outage. The counter shows the spans that follow.
    if (this.lost === undefined) log.warn("spans not delivered", { spans, error: cause });
    this.lost = { spans: spans + (this.lost?.spans ?? 0), cause };
  }
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
