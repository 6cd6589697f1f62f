/**
 * Where ids come from: from where the trace context has them, but for the root of a trace that the request already has ids for. Its
 * log lines carry them and so do the headers it sends on; the exported span must not invent others.
 */
import { newSpanId, newTraceId } from "../observe/trace-context.js";

export interface SpanIds {
  /** 32 lower-case hex characters, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hex characters, not all zero. */
  readonly spanId: string;
}

/** An `IdGenerator` of either SDK package: a declaration that users see names neither. */
export class IdSource {
  #next: SpanIds | undefined;

  /** Runs `start`, which starts a root, with these ids. */
  using<T>(ids: SpanIds, start: () => T): T {
    this.#next = ids;
    try {
      return start();
    } finally {
      this.#next = undefined;
    }
  }

  generateTraceId(): string {
    return this.#next === undefined ? newTraceId() : this.#next.traceId;
  }

  generateSpanId(): string {
    return this.#next === undefined ? newSpanId() : this.#next.spanId;
  }
}
