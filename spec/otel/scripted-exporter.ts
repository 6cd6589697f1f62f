/** An exporter that does with each batch what the test says, when the test says it. */
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";

type Settle = Parameters<SpanExporter["export"]>[1];
type Result = Parameters<Settle>[0];

// Members of an enumeration that only a package of the SDK's own exports.
export const ARRIVED = { code: 0 } as unknown as Result;
const FAILED = 1 as unknown as Result["code"];

export class ScriptedExporter implements SpanExporter {
  /** How many spans each batch had, in order. */
  readonly batches: number[] = [];
  private readonly open: Settle[] = [];

  export(spans: ReadableSpan[], settle: Settle): void {
    this.batches.push(spans.length);
    this.open.push(settle);
  }

  /** Says of the oldest batch that is under way how it went. */
  settle(error?: Error): void {
    const settle = this.open.shift();
    if (settle === undefined) throw new Error("nothing is under way");
    settle(error === undefined ? ARRIVED : { code: FAILED, error });
  }

  get underWay(): number {
    return this.open.length;
  }

  async shutdown(): Promise<void> {}
}
