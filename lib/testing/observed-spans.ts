/**
 * Keeps what spans carry, for `expectNoLeak`: the log shows a span only where an event falls into it, and an exporter would see them all.
 */
import type { Fields, SpanData } from "../kernel/tracing-port.js";
import type { Layer } from "../kernel/tracing-registry.js";

export class ObservedSpans implements Layer {
  readonly #texts: string[] = [];

  onNewSpan(span: SpanData): void {
    this.#texts.push(`${span.target} ${span.name} ${textOf(span.fields)}`);
  }

  onRecord(span: SpanData, fields: Fields): void {
    this.#texts.push(`${span.target} ${span.name} ${textOf(fields)}`);
  }

  /** One text a span, and one more for each time fields were recorded on it later. */
  texts(): readonly string[] {
    return this.#texts;
  }
}

function textOf(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(" ");
}
