/**
 * A `tracestate` that was validated where it came in, for the SDK to carry along. It stays the text it was: taking it apart, for
 * every request, would only serve to put it together again.
 */
import type { TraceState } from "@opentelemetry/api";
import { api } from "./peers.js";

export class RawTraceState implements TraceState {
  constructor(private readonly text: string) {}

  serialize(): string {
    return this.text;
  }

  get(key: string): string | undefined {
    return api.createTraceState(this.text).get(key);
  }

  set(key: string, value: string): TraceState {
    return api.createTraceState(this.text).set(key, value);
  }

  unset(key: string): TraceState {
    return api.createTraceState(this.text).unset(key);
  }
}
