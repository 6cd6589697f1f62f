/**
 * The log lines and spans of one application under test. `testApp` makes one; a test reads the lines at `app.logs`, and `expectNoLeak`
 * reads both. For the log lines alone a `CaptureSink` is enough.
 */
import { provide, type Binding } from "../di/provide.js";
import { Filter } from "../observe/logging/filter.js";
import { FieldWriter } from "../observe/logging/json-fields.js";
import { JsonLog } from "../observe/logging/json-log.js";
import { isSensitive } from "../observe/logging/redaction.js";
import { CaptureSink, LogSink } from "../observe/logging/sink.js";
import type { Clock } from "../runtime/clock.js";
import type { TracingLayer } from "../tracing/registry.js";
import type { Fields, LogEvent, SpanData, SpanOutcome } from "../tracing/subscriber.js";
import { tracing } from "../tracing/tracing.js";
import { FakeClock } from "./fake-clock.js";

export class CapturedTracing {
  readonly sink = new CaptureSink();
  readonly spans = new CapturedSpans();
  private readonly log = new ClockedLog(this.sink);
  private readonly subscriber = tracing.registry().with(this.log).with(this.spans);

  /** The log sink and the filter for classes that inject one. */
  defaultBindings(): readonly Binding[] {
    return [provide(LogSink).useValue(this.sink), provide(Filter).useValue(Filter.upTo("TRACE"))];
  }

  /** A `FakeClock` stamps the lines from now on, so that they agree with all other times of the application. */
  useClock(clock: Clock): void {
    if (clock instanceof FakeClock) this.log.clock = clock;
  }

  /** Captures the events of `fn` and of all work that `fn` starts, such as the requests of a server that it creates. */
  run<T>(fn: () => T): T {
    return tracing.withSubscriber(this.subscriber, fn);
  }
}

class ClockedLog extends JsonLog {
  clock: FakeClock | undefined;

  override onEvent(event: LogEvent, state: Parameters<JsonLog["onEvent"]>[1]): void {
    super.onEvent(this.clock === undefined ? event : { ...event, timestamp: this.clock.now() }, state);
  }
}

// A span exporter sends fields without redaction, and errors with redaction by name. The captured texts are the same.
const fieldWriter = new FieldWriter(() => false);
const errorWriter = new FieldWriter(isSensitive);

/** The log shows a span only if an event occurs inside it. This layer records every span, as an exporter receives it. */
class CapturedSpans implements TracingLayer {
  readonly #texts: string[] = [];

  onNewSpan(span: SpanData): void {
    this.#texts.push(`${span.target} ${span.name} ${formatFields(span.fields)}`);
  }

  onRecord(span: SpanData, fields: Fields): void {
    this.#texts.push(`${span.target} ${span.name} ${formatFields(fields)}`);
  }

  onClose(span: SpanData, outcome: SpanOutcome): void {
    if (!outcome.ok) this.#texts.push(`${span.target} ${span.name} ${formatValue(errorWriter, outcome.error)}`);
  }

  /** One text for each new span, for each later record of fields, and for each error that ended a span. */
  texts(): readonly string[] {
    return this.#texts;
  }
}

function formatFields(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${formatValue(fieldWriter, value)}`)
    .join(" ");
}

function formatValue(writer: FieldWriter, value: unknown): string {
  return typeof value === "string" ? value : (writer.value(value) ?? "");
}
