/**
 * The tracing layer that writes each event as one line of JSON to a sink. It redacts every field with a sensitive name, at every depth. It
 * cannot find a secret under a harmless name or inside a message.
 *
 * A field is written to a depth of 64 and up to 2^20 objects; an object beyond reads `[too deep]` or `[unreadable]`.
 *
 * @example
 * const subscriber = tracing.registry().with(new JsonLog(new StderrSink()));
 */
import type { TracingLayer } from "../../tracing/registry.js";
import type { Fields, LogEvent, SpanData } from "../../tracing/subscriber.js";
import { ObserveError } from "../errors.js";
import { FieldWriter } from "./json-fields.js";
import { LineEnd } from "./json-line-end.js";
import { SpanFields, SpanPath } from "./json-spans.js";
import { isSensitive, RedactionPatterns } from "./redaction.js";
import type { LogSink } from "./sink.js";
import { setupError } from "../../errors/setup-error.js";

const NO_FIELDS: Fields = Object.freeze({});

export class JsonLog implements TracingLayer<SpanFields> {
  readonly #sink: LogSink;
  readonly #writer = new FieldWriter((name) => this.#isSensitive(name));
  readonly #rootPath = SpanPath.root();
  readonly #lineEnd = new LineEnd();
  #extraPatterns: RedactionPatterns | undefined;
  #hasSpanFields = true;

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  /** From now on, a line has only the fields of the event itself. The member `spans` stays. */
  withoutSpanFields(): this {
    this.#hasSpanFields = false;
    return this;
  }

  /**
   * Redacts, in addition to `DENY_LIST`, every field with one of these patterns in its name. Case, `-` and `.` are folded as for
   * `DENY_LIST`. Call it before the first event: an object in the fields of an open span is written already and does not change.
   *
   * @throws ObserveError `E_REDACT_NEEDLE` for an empty pattern, which every name contains.
   */
  alsoRedact(...patterns: readonly string[]): this {
    if (patterns.includes("")) {
      throw setupError(
        new ObserveError('every field name contains "": give a pattern that is not empty', {
          code: "E_REDACT_NEEDLE",
        }),
      );
    }
    this.#extraPatterns = new RedactionPatterns([...(this.#extraPatterns?.patterns ?? []), ...patterns]);
    this.#writer.keyCache.clear();
    return this;
  }

  onNewSpan(span: SpanData, parent: SpanFields | undefined): SpanFields {
    const path = (parent?.path ?? this.#rootPath).child(span.name);
    return new SpanFields(this.#writer, parent, path, span.fields);
  }

  onRecord(span: SpanData, _fields: Fields, state: SpanFields | undefined): void {
    state?.record(span.fields);
  }

  onEvent(event: LogEvent, state: SpanFields | undefined): void {
    this.#write(this.#safeLine(event, state));
  }

  #isSensitive(name: string): boolean {
    return isSensitive(name) || this.#extraPatterns?.matches(name) === true;
  }

  #safeLine(event: LogEvent, state: SpanFields | undefined): string {
    try {
      return this.#line(event, state);
    } catch {
      // The line is longer than a string can be, or the stack is full. This line is short.
      return this.#line({ ...event, fields: { fields: "[unreadable]" }, message: "[unreadable]" }, undefined);
    }
  }

  #line(event: LogEvent, state: SpanFields | undefined): string {
    const { message, fields } = typeof event.message === "string" ? event : this.#withTextMessage(event);
    const line = this.#writer.line(fields ?? NO_FIELDS, this.#hasSpanFields ? state?.fold() : undefined);
    return this.#lineEnd.append(line, event, message, state?.path);
  }

  /**
   * A message that is not a string is written as JSON text. An event without a message takes the string field `message`, if there is one.
   */
  #withTextMessage(event: LogEvent): Pick<LogEvent, "message" | "fields"> {
    if (event.message !== undefined) return { message: this.#writer.value(event.message), fields: event.fields };
    const { message, ...fields } = event.fields ?? NO_FIELDS;
    return typeof message === "string" && !this.#isSensitive("message") ? { message, fields } : event;
  }

  #write(line: string): void {
    try {
      // TypeScript accepts an asynchronous method here. Its rejection must not end the process.
      const result: unknown = this.#sink.writeLine(line);
      if (result instanceof Promise) result.catch(() => {});
    } catch {
      // The line is lost, and logging continues.
    }
  }
}
