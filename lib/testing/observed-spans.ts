/**
 * Keeps what spans carry, for `expectNoLeak`: the log shows a span only where an event falls into it, and an exporter would see them all.
 */
import type { Fields, Outcome, SpanData } from "../tracing/subscriber.js";
import type { TracingLayer } from "../tracing/registry.js";
import { FieldWriter } from "../observe/logging/json-fields.js";
import { isSensitive } from "../observe/logging/redaction.js";

// As an exporter sends them: fields with nothing withheld, failures with secrets withheld by name.
const fieldWriter = new FieldWriter(() => false);
const failureWriter = new FieldWriter(isSensitive);

export class ObservedSpans implements TracingLayer {
  readonly #texts: string[] = [];

  onNewSpan(span: SpanData): void {
    this.#texts.push(`${span.target} ${span.name} ${textOf(span.fields)}`);
  }

  onRecord(span: SpanData, fields: Fields): void {
    this.#texts.push(`${span.target} ${span.name} ${textOf(fields)}`);
  }

  onClose(span: SpanData, outcome: Outcome): void {
    if (!outcome.ok) this.#texts.push(`${span.target} ${span.name} ${textBy(failureWriter, outcome.error)}`);
  }

  /** One text a span, one more for each time fields were recorded on it later, and one for the failure that ended it. */
  texts(): readonly string[] {
    return this.#texts;
  }
}

function textOf(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${textBy(fieldWriter, value)}`)
    .join(" ");
}

function textBy(writer: FieldWriter, value: unknown): string {
  return typeof value === "string" ? value : (writer.value(value) ?? "");
}
