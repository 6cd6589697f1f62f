/** An exporter whose exports end when the test calls `settle`, with the result that the test passes. */
import type { ReadableSpan, SpanExporter } from "../../../lib/observe/otel/peers.js";

type Settle = Parameters<SpanExporter["export"]>[1];
type Result = Parameters<Settle>[0];

// `ExportResultCode`, whose package is a dependency of the SDK, not ours.
export const ARRIVED = { code: 0 } as unknown as Result;
const FAILED = 1 as unknown as Result["code"];

export class ScriptedExporter implements SpanExporter {
  /** The number of spans of each batch, in order. */
  readonly batches: number[] = [];
  private readonly open: Settle[] = [];

  export(spans: ReadableSpan[], settle: Settle): void {
    this.batches.push(spans.length);
    this.open.push(settle);
  }

  /** Ends the export of the oldest batch in flight. */
  settle(error?: Error): void {
    const settle = this.open.shift();
    if (settle === undefined) throw new Error("no batch is in flight");
    settle(error === undefined ? ARRIVED : { code: FAILED, error });
  }

  get inFlight(): number {
    return this.open.length;
  }

  async shutdown(): Promise<void> {}
}
