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
import { FieldWriter, type WrittenMember, toJsonString } from "./json-fields.js";
import { isSensitive, RedactionPatterns } from "./redaction.js";
import type { LogSink } from "./sink.js";
import { setupError } from "../../errors/setup-error.js";

const NO_FIELDS: Fields = Object.freeze({});
const NOTHING_INHERITED: readonly WrittenMember[] = [];
/** The last moment that a `Date` can hold, in milliseconds since the Unix epoch. */
const MAX_DATE_MS = 8.64e15;

export class JsonLog implements TracingLayer<SpanFields> {
  readonly #sink: LogSink;
  #writer = new FieldWriter((name) => this.#isSensitive(name));
  #extraPatterns: RedactionPatterns | undefined;
  #hasSpanFields = true;
  #second = Number.NaN;
  #startOfTime = "";

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
    // A writer remembers which names are sensitive.
    this.#writer = new FieldWriter((name) => this.#isSensitive(name));
    return this;
  }

  onNewSpan(span: SpanData, parent: SpanFields | undefined): SpanFields {
    return new SpanFields(this.#writer, span, parent);
  }

  onRecord(span: SpanData, _fields: Fields, state: SpanFields | undefined): void {
    state?.record(this.#writer, span.fields);
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
    const inherited = state === undefined || !this.#hasSpanFields ? NOTHING_INHERITED : state.members(this.#writer);
    const object = this.#writer.fields(fields ?? NO_FIELDS, inherited);
    const start = object === "" ? "{" : `{"fields":${object},`;
    const text = message === undefined ? "" : `,"message":${toJsonString(message)}`;
    const spans = state === undefined ? "" : `,"spans":[${state.names}]`;
    const time = this.#formatTime(event.timestamp);
    return `${start}"level":"${event.level}"${text}${spans},"target":${toJsonString(event.target)},"timestamp":"${time}"}`;
  }

  /** Most lines are of the same second as the line before. */
  #formatTime(timestamp: number): string {
    const time = floorMilliseconds(timestamp);
    const second = Math.floor(time / 1000);
    if (second !== this.#second) this.#startOfTime = formatTimestamp(second * 1000).slice(0, -"000Z".length);
    this.#second = second;
    return `${this.#startOfTime}${String(time - second * 1000).padStart(3, "0")}Z`;
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

/** The state that the log keeps for a span: its fields as they were when they were recorded, and the names of the spans around it. */
class SpanFields {
  /** The names of the spans, outermost first, as JSON. */
  readonly names: string;
  private fields: Fields;
  private written: readonly WrittenMember[] | undefined;
  // `written` is computed again when one of these two changes.
  private writer: FieldWriter | undefined;
  private outer: readonly WrittenMember[] | undefined;

  constructor(
    writer: FieldWriter,
    { name, fields }: SpanData,
    private readonly parent: SpanFields | undefined,
  ) {
    this.names = parent === undefined ? toJsonString(name) : `${parent.names},${toJsonString(name)}`;
    this.fields = freezeFields(writer, fields);
  }

  /** @param fields All fields of the span, not only the added ones. */
  record(writer: FieldWriter, fields: Fields): void {
    this.fields = freezeFields(writer, fields);
    this.written = undefined;
  }

  /** The fields that an event inside the span inherits. A field replaces one of the same name of a span around it. */
  members(writer: FieldWriter): readonly WrittenMember[] {
    const outer = this.parent === undefined ? NOTHING_INHERITED : this.parent.members(writer);
    if (this.written !== undefined && this.outer === outer && this.writer === writer) return this.written;
    [this.outer, this.writer] = [outer, writer];
    return (this.written = writer.inherit(this.fields, outer));
  }
}

// Objects are written now, so that later changes to them do not show. The fields object itself is a copy that only the span uses.
function freezeFields(writer: FieldWriter, fields: Fields): Fields {
  if (!Object.values(fields).some((value) => typeof value === "object" && value !== null)) return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, writer.freeze(name, value)]));
}

/** RFC 3339, in UTC with milliseconds and `Z`. */
export function formatTimestamp(milliseconds: number): string {
  return new Date(floorMilliseconds(milliseconds)).toISOString();
}

/** Rounds down to whole milliseconds. A time outside the range of `Date` becomes the Unix epoch. */
function floorMilliseconds(milliseconds: number): number {
  return Math.abs(milliseconds) <= MAX_DATE_MS ? Math.floor(milliseconds) : 0;
}
