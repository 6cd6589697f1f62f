/**
 * The layer that writes each event as one line of JSON to a sink (specification, section 2.3). It does the serialising
 * itself, and what it serialises is withheld where its name says so (section 2.5): a secret has no way past it but under
 * a harmless name or inside a message.
 *
 * A field is written to a depth of 64, and up to 2^20 objects: of one that unfolds to more, what is beyond reads `[unreadable]`.
 *
 * @example
 * const subscriber = tracing.registry().with(new JsonLog(new StderrSink()));
 */
import type { Level, LogEvent, Fields, SpanData } from "../../tracing/subscriber.js";
import { wholeMilliseconds, timestamp, needsNoEscape, jsonString, flattened } from "./json-text.js";
import type { TracingLayer } from "../../tracing/registry.js";
import { FieldWriter } from "./json-fields.js";
import { SpanFields } from "./json-spans.js";
import { RedactionPatterns, isSensitive } from "./redaction.js";
import { ObserveError } from "../errors.js";
import type { LogSink } from "./sink.js";

/**
 * Everything of a line after `fields`: level, message, spans, target, timestamp, in this order. Most of it was the same
 * in the line before, and is kept.
 */
const MAX_TARGETS = 256;

interface LevelMember {
  /** As the first and as a later member of the line, and the same as far as the text of the message. */
  readonly first: string;
  readonly next: string;
  readonly firstMessage: string;
  readonly nextMessage: string;
}

const HEADS: Readonly<Record<Level, LevelMember>> = {
  ERROR: heads("ERROR"),
  WARN: heads("WARN"),
  INFO: heads("INFO"),
  DEBUG: heads("DEBUG"),
  TRACE: heads("TRACE"),
};

/** The member `spans`. */
export interface SpansMember {
  readonly spans: string;
  readonly spansAfterString: string;
}

/** The target, and the timestamp but for its milliseconds. */
interface Tail {
  second: number;
  text: string;
}

export class LineEnd {
  readonly #tails = new Map<string, Tail>();

  /**
   * @param line The line so far, `""` where it has no fields.
   * @param spans The member for the spans; the second form is for after a string that is still open.
   */
  close(line: string, event: LogEvent, message: string | undefined, spans: SpansMember | undefined): string {
    const moment = wholeMilliseconds(event.timestamp);
    const second = Math.floor(moment / 1000);
    const begun = addMessage(line, HEADS[event.level], message, spans);
    return begun + this.#tail(event.target, second) + milliseconds(moment - second * 1000);
  }

  #tail(target: string, second: number): string {
    const tail = this.#tails.get(target) ?? this.#newTail(target);
    if (tail.second !== second) {
      tail.second = second;
      tail.text = tailText(target, second);
    }
    return tail.text;
  }

  #newTail(target: string): Tail {
    if (this.#tails.size >= MAX_TARGETS) this.#tails.clear();
    const tail: Tail = { second: Number.NaN, text: "" };
    this.#tails.set(target, tail);
    return tail;
  }
}

function addMessage(
  line: string,
  head: LevelMember,
  message: string | undefined,
  spans: SpansMember | undefined,
): string {
  const first = line === "";
  if (message !== undefined && needsNoEscape(message)) {
    return line + (first ? head.firstMessage : head.nextMessage) + message + (spans?.spansAfterString ?? '"');
  }
  const text = message === undefined ? "" : `,"message":${jsonString(message)}`;
  return line + (first ? head.first : head.next) + text + (spans?.spans ?? "");
}

function tailText(target: string, second: number): string {
  return flattened(`,"target":${jsonString(target)},"timestamp":"${timestamp(second * 1000).slice(0, -"000Z".length)}`);
}

function milliseconds(rest: number): string {
  if (rest >= 100) return `${rest}Z"}`;
  return rest >= 10 ? `0${rest}Z"}` : `00${rest}Z"}`;
}

function heads(level: Level): LevelMember {
  const member = `"level":"${level}"`;
  return {
    first: `{${member}`,
    next: `,${member}`,
    firstMessage: `{${member},"message":"`,
    nextMessage: `,${member},"message":"`,
  };
}

const NO_FIELDS: Fields = Object.freeze({});

export class JsonLog implements TracingLayer<SpanFields> {
  readonly #sink: LogSink;
  readonly #writer = new FieldWriter((name) => this.#isSensitive(name));
  readonly #end = new LineEnd();
  #also: RedactionPatterns | undefined;
  #inherits = true;

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  /** From now on, lines hold only the fields of the event itself; `spans` stays. */
  withoutSpanFields(): this {
    this.#inherits = false;
    return this;
  }

  /**
   * Withholds more than `DENY_LIST` does: every field with one of these in its name, folded alike. To be called before anything is
   * logged: objects among the fields of a span that is open have been written already, and names inside them stay as they are.
   * @throws ObserveError `E_REDACT_NEEDLE` for an empty one, which would be in every name.
   */
  alsoRedact(...needles: readonly string[]): this {
    if (needles.includes("")) {
      throw new ObserveError('"" is in every field name: name what is to be redacted', { code: "E_REDACT_NEEDLE" });
    }
    this.#also = new RedactionPatterns([...(this.#also?.patterns ?? []), ...needles]);
    this.#writer.shapes.forget();
    return this;
  }

  onNewSpan(span: SpanData, parent: SpanFields | undefined): SpanFields {
    return new SpanFields(this.#writer, parent, span.name, span.fields);
  }

  onRecord(span: SpanData, _fields: Fields, state: SpanFields | undefined): void {
    state?.record(span.fields);
  }

  onEvent(event: LogEvent, state: SpanFields | undefined): void {
    this.#write(this.#line(event, state));
  }

  #isSensitive(name: string): boolean {
    return isSensitive(name) || this.#also?.matches(name) === true;
  }

  #line(event: LogEvent, state: SpanFields | undefined): string {
    try {
      return this.#compose(event, state);
    } catch {
      // Longer than a string can be, or no stack left to write it with: what is certain to be short.
      return this.#compose({ ...event, fields: { fields: "[unreadable]" }, message: "[unreadable]" }, undefined);
    }
  }

  #compose(event: LogEvent, state: SpanFields | undefined): string {
    const { message, fields } = typeof event.message === "string" ? event : this.#lift(event);
    const line = this.#writer.line(fields ?? NO_FIELDS, this.#inherits ? state?.fold() : undefined);
    return this.#end.close(line, event, message, state?.path);
  }

  /** An event without a message of its own takes that of its fields, where it is one; and what is no text becomes one. */
  #lift(event: LogEvent): Pick<LogEvent, "message" | "fields"> {
    if (event.message !== undefined) return { message: this.#writer.value(event.message), fields: event.fields };
    const { message, ...fields } = event.fields ?? NO_FIELDS;
    return typeof message === "string" && !this.#isSensitive("message") ? { message, fields } : event;
  }

  #write(line: string): void {
    try {
      // An asynchronous method passes for one that answers nothing; its failure must not end the process.
      const answer: unknown = this.#sink.writeLine(line);
      if (answer instanceof Promise) answer.catch(() => {});
    } catch {
      // The line is lost, and nothing else happens.
    }
  }
}
