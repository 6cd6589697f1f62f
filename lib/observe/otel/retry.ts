/**
 * An exporter that tries a batch again where the collector refuses it for now: with back-off, or after the time that the collector names.
 * The queue sends one batch at a time, so the spans behind the batch wait within the queue's limits.
 *
 * OpenTelemetry's exporter makes one attempt over gRPC.
 */
import type { Clock, Timer } from "../../runtime/clock.js";
import { findRetryDelay } from "./retry-info.js";
import type { ReadableSpan, SpanExporter } from "./peers.js";

/** The status codes RESOURCE_EXHAUSTED and UNAVAILABLE of gRPC. */
const RETRYABLE: ReadonlySet<unknown> = new Set([8, 14]);
/** With the first delay: about half a minute, in which a collector restarts. */
export const MAX_ATTEMPTS = 6;
export const FIRST_DELAY_MS = 1000;
/** A batch is lost where the collector names a longer time. */
export const MAX_DELAY_MS = 300_000;
/** Spreads the attempts of many processes: each delay is up to 20 % shorter or longer. */
const JITTER = 0.2;

type Settle = Parameters<SpanExporter["export"]>[1];

/** `ExportResultCode.FAILED`. Its package is a dependency of the SDK, not ours. */
const FAILED = 1 as unknown as Parameters<Settle>[0]["code"];

export class RetryingExporter implements SpanExporter {
  private readonly waiting = new Map<() => void, Timer>();
  private isStopped = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly clock: Clock,
  ) {}

  export(spans: ReadableSpan[], settle: Settle): void {
    this.attempt(spans, settle, 1);
  }

  /** From now on each batch has one attempt. Waiting batches have theirs at once. */
  stopRetries(): void {
    this.isStopped = true;
    for (const [attempt, timer] of this.waiting) {
      timer.cancel();
      attempt();
    }
    this.waiting.clear();
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private attempt(spans: ReadableSpan[], settle: Settle, count: number): void {
    try {
      this.exporter.export(spans, (result) => {
        const delayMs = this.isStopped || count === MAX_ATTEMPTS ? undefined : findDelay(result.error, count);
        if (delayMs === undefined) settle(result);
        else this.wait(delayMs, () => this.attempt(spans, settle, count + 1));
      });
    } catch (error) {
      // A timer has no caller that could catch it.
      settle({ code: FAILED, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  private wait(delayMs: number, attempt: () => void): void {
    const fire = (): void => {
      this.waiting.delete(attempt);
      attempt();
    };
    this.waiting.set(attempt, this.clock.setTimeout(fire, delayMs, { background: true }));
  }
}

/** The delay before the next attempt, in milliseconds; `undefined` where another attempt would not help. */
function findDelay(error: (Error & { readonly metadata?: unknown }) | undefined, count: number): number | undefined {
  if (error === undefined || !("code" in error) || !RETRYABLE.has(error.code)) return undefined;
  const namedDelayMs = findRetryDelay(error.metadata);
  if (namedDelayMs !== undefined) return namedDelayMs <= MAX_DELAY_MS ? namedDelayMs : undefined;
  return FIRST_DELAY_MS * 2 ** (count - 1) * (1 - JITTER + 2 * JITTER * Math.random());
}
