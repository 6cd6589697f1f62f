/**
 * Hands batches to the exporter and remembers how that went: what is under way, what was lost, and why. Nothing here is ever rejected:
 * an exporter that fails, or throws, has lost the batch.
 */
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";
import { tracing } from "../tracing/tracing.js";

// `ExportResultCode.SUCCESS`, of a package that is not ours to import.
const SUCCESS = 0;
const log = tracing.target("framework::otel");

/** What did not arrive since something last did. */
export interface UndeliveredSpans {
  readonly spans: number;
  readonly cause: unknown;
}

export class Delivery {
  readonly #exporter: SpanExporter;
  readonly #dropped: DroppedSpans;
  readonly #underWay = new Map<Promise<void>, number>();
  #isAbandoned = false;
  #loss: UndeliveredSpans | undefined;

  constructor(exporter: SpanExporter, dropped: DroppedSpans) {
    this.#exporter = exporter;
    this.#dropped = dropped;
  }

  get loss(): UndeliveredSpans | undefined {
    return this.#loss;
  }

  /** Resolves when the batch has arrived or is lost. */
  send(batch: ReadableSpan[]): Promise<void> {
    const before = this.#loss;
    const sent = this.#export(batch).then((failure) => {
      this.#underWay.delete(sent);
      if (this.#isAbandoned) return;
      if (failure !== undefined) this.#lose(batch.length, failure.cause);
      // What arrives ends the outage it was sent in; of one that began meanwhile it knows nothing.
      else if (this.#loss === before) this.#loss = undefined;
    });
    this.#underWay.set(sent, batch.length);
    return sent;
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.keys());
  }

  /** Counts what is under way as lost, now: nobody waits for it any longer, and what becomes of it is no matter. */
  abandon(): void {
    this.#isAbandoned = true;
    for (const spans of this.#underWay.values()) this.#dropped.add(spans);
  }

  #export(batch: ReadableSpan[]): Promise<{ readonly cause: unknown } | undefined> {
    return new Promise((resolve) => {
      try {
        this.#exporter.export(batch, ({ code, error }) =>
          resolve((code as number) === SUCCESS ? undefined : { cause: error }),
        );
      } catch (cause) {
        resolve({ cause });
      }
    });
  }

  #lose(spans: number, cause: unknown): void {
    this.#dropped.add(spans);
    // One event an outage: what follows is the counter's.
    if (this.#loss === undefined) log.warn("spans not delivered", { spans, error: cause });
    this.#loss = { spans: spans + (this.#loss?.spans ?? 0), cause };
  }
}

/**
 * Counts the spans that reached no collector: because too many waited, or because they could not be delivered. Visible as
 * `framework_spans_dropped_total` where a registry is given.
 */
export const SPANS_DROPPED_TOTAL = "framework_spans_dropped_total";
const HELP = "Spans that were not exported.";

/** As much of `Metrics` as is needed. */
export interface SpanCounter {
  describeCounter?(name: string, help: string): void;
  increment(name: string, labels: Readonly<Record<string, string>>, by: number): void;
}

export class DroppedSpans {
  readonly #counter: SpanCounter | undefined;

  constructor(counter: SpanCounter | undefined) {
    this.#counter = counter;
    counter?.describeCounter?.(SPANS_DROPPED_TOTAL, HELP);
    counter?.increment(SPANS_DROPPED_TOTAL, {}, 0);
  }

  /** Never fails: the spans are lost as it is. */
  add(count: number): void {
    try {
      this.#counter?.increment(SPANS_DROPPED_TOTAL, {}, count);
    } catch {
      // What cannot be counted is still told of by the event and by `shutdown()`.
    }
  }
}
