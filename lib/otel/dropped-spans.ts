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
