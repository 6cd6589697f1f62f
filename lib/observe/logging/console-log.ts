/**
 * The tracing layer that writes events as plain text for a developer at the terminal: one line for each event, and the stack of an error
 * on indented lines below it. It writes no colours and does not redact. For debug builds only; use `JsonLog` for all others.
 *
 * @example
 * // 2026-11-21T08:30:00.123Z INFO shop::links: framework.request: link created id=7 note="two words"
 */
import { listFieldNames, readField, UNREADABLE_FIELD } from "../../errors/thrown-value.js";
import type { Fields, LogEvent, SpanData } from "../../tracing/subscriber.js";
import type { TracingLayer } from "../../tracing/registry.js";
import { FieldWriter } from "./json-fields.js";
import type { LogSink } from "./sink.js";
import { formatTimestamp } from "./json-log.js";

const STACK = "stack";
const BARE_WORD = /^[^\s"'=\\]+$/;
// Characters that end the line, move the cursor or change the direction of the text.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

export class ConsoleLog implements TracingLayer {
  readonly #sink: LogSink;
  readonly #writer = new FieldWriter(() => false);

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  onEvent(event: LogEvent): void {
    const stack = listStackLines(event.fields);
    const words = [`${formatTimestamp(event.timestamp)} ${event.level} ${event.target}:`, formatSpanNames(event.span)];
    if (event.message !== undefined) words.push(event.message);
    for (const [name, text] of this.#texts(event))
      if (name !== STACK || stack.length === 0) words.push(`${name}=${text}`);
    const line = words.filter((word) => word !== "").join(" ");
    this.#sink.writeLine([line, ...stack].map(escapeControls).join("\n"));
  }

  /** The fields of the event, then the fields of its spans from the innermost to the outermost; each name once. */
  #texts({ fields, span }: LogEvent): ReadonlyMap<string, string> {
    const shown = new Map<string, string>();
    for (const source of [fields, ...listSpans(span).map((each) => each.fields)]) {
      for (const name of listFieldNames(source)) {
        const text = shown.has(name) ? undefined : this.#text(source, name);
        if (text !== undefined) shown.set(name, text);
      }
    }
    return shown;
  }

  #text(fields: Fields | undefined, name: string): string | undefined {
    try {
      const value = fields?.[name];
      return typeof value === "string" && BARE_WORD.test(value) ? value : this.#writer.value(value);
    } catch {
      return UNREADABLE_FIELD;
    }
  }
}

/** The innermost span first. */
function listSpans(span: SpanData | undefined): SpanData[] {
  return span === undefined ? [] : [span, ...listSpans(span.parent)];
}

function formatSpanNames(span: SpanData | undefined): string {
  return listSpans(span)
    .toReversed()
    .map(({ name }) => `${name}:`)
    .join("");
}

/** Indented, so that a line break in the message of an error cannot imitate an event. Empty unless the field has several lines. */
function listStackLines(fields: Fields | undefined): readonly string[] {
  const stack = fields === undefined ? undefined : readField(fields, STACK);
  if (typeof stack !== "string" || !stack.includes("\n")) return [];
  return stack.split("\n").map((line) => `    ${line.trim()}`);
}

function escapeControls(line: string): string {
  return line.replaceAll(CONTROL, escapeControl);
}

function escapeControl(control: string): string {
  return SHORT_ESCAPES.get(control) ?? `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
