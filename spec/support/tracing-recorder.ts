/**
 * Records every event and every span with its original values: for specs of the events that a stage emits. For the text of a log line use
 * `CaptureSink`.
 */
import type { TracingLayer } from "../../lib/tracing/registry.js";
import type { Fields, Level, LogEvent, SpanOutcome, SpanData } from "../../lib/tracing/subscriber.js";
import { tracing } from "../../lib/tracing/tracing.js";

export interface RecordedEvent {
  readonly level: Level;
  readonly target: string;
  readonly message: string | undefined;
  /** The fields of the event itself. */
  readonly fields: Fields;
  /** Outermost first. */
  readonly spans: readonly string[];
  /** The fields of its spans. The innermost span takes precedence. */
  readonly inherited: Fields;
}

export interface RecordedSpan {
  readonly target: string;
  readonly name: string;
  readonly fields: Fields;
  readonly parent: string | undefined;
  readonly remoteParent: SpanData["remoteParent"];
  /** `undefined` while the span is open. */
  outcome: SpanOutcome | undefined;
}

export class TracingRecorder implements TracingLayer<RecordedSpan> {
  readonly events: RecordedEvent[] = [];
  readonly spans: RecordedSpan[] = [];
  private readonly subscriber = tracing.registry().with(this);

  /** Records the events of `fn`, and of a server that `fn` creates. */
  run<T>(fn: () => T): T {
    return tracing.withSubscriber(this.subscriber, fn);
  }

  /** The events of one target, in their order. */
  from(target: string): readonly RecordedEvent[] {
    return this.events.filter((event) => event.target === target);
  }

  onNewSpan({ target, name, fields, parent, remoteParent }: SpanData): RecordedSpan {
    const seen = { target, name, fields, parent: parent?.name, remoteParent, outcome: undefined };
    this.spans.push(seen);
    return seen;
  }

  onClose(_span: SpanData, outcome: SpanOutcome, seen: RecordedSpan | undefined): void {
    if (seen !== undefined) seen.outcome = outcome;
  }

  onEvent({ level, target, message, fields = {}, span }: LogEvent): void {
    const chain = chainOf(span);
    const inherited: Fields = Object.assign({}, ...chain.map((each) => each.fields));
    this.events.push({ level, target, message, fields, spans: chain.map(({ name }) => name), inherited });
  }
}

function chainOf(span: SpanData | undefined): SpanData[] {
  return span === undefined ? [] : [...chainOf(span.parent), span];
}
