/**
 * The port between the code that emits events and the code that collects them: levels, events, spans as data, and `Subscriber`. Types and
 * one small table. Implement `TracingLayer` and not `Subscriber`, unless you want to replace the registry itself.
 */

/** Names and values of an event or a span. A value may have any type. A value that cannot be shown is marked and causes no error. */
export type Fields = Readonly<Record<string, unknown>>;

/** From the most to the least urgent, spelled as in the log line. */
export type Level = "ERROR" | "WARN" | "INFO" | "DEBUG" | "TRACE";

/** The least urgent level that is wanted; `"OFF"` if none is. */
export type LevelFilter = Level | "OFF";

/** A level as a number. An event is wanted if its verbosity is at most the verbosity of the filter. */
export const VERBOSITY: Readonly<Record<LevelFilter, number>> = Object.freeze({
  OFF: 0,
  ERROR: 1,
  WARN: 2,
  INFO: 3,
  DEBUG: 4,
  TRACE: 5,
});

/** Decides by target which levels are wanted. It must always return the same level for the same target, because the level is cached. */
export interface TargetFilter {
  maxLevel(target: string): LevelFilter;
}

/** The caller's span, if the request continues a caller's trace (W3C Trace Context). Only exporters read it. */
export interface RemoteParent {
  /** 32 lower-case hex characters. */
  readonly traceId: string;
  /** 16 lower-case hex characters. */
  readonly spanId: string;
  /** The flags octet, 0 to 255. */
  readonly traceFlags: number;
  readonly traceState?: string | undefined;
}

/** A span as layers see it. */
export interface SpanData {
  readonly target: string;
  readonly name: string;
  /** The fields of the span, later recorded ones included; not the fields of its parents. */
  readonly fields: Fields;
  readonly parent: SpanData | undefined;
  readonly remoteParent?: RemoteParent | undefined;
  /** Only for the subscriber under which the span was opened. */
  subscriberState: unknown;
}

/** How a span ended. */
export type SpanOutcome = { readonly ok: true } | { readonly ok: false; readonly error: unknown };

/** One event. */
export interface LogEvent {
  readonly level: Level;
  readonly target: string;
  /** `undefined` if the event has none. */
  readonly message: string | undefined;
  readonly fields: Fields | undefined;
  /** The innermost span around the event. */
  readonly span: SpanData | undefined;
  /** Milliseconds since the Unix epoch, by the machine's clock. */
  readonly timestamp: number;
}

/**
 * The destination of events and spans. An error that a method throws is lost and does not reach the code that emitted the event. Events
 * that are emitted while a method runs are dropped, so that a sink that logs does not call itself.
 */
export interface Subscriber extends TargetFilter {
  onEvent(event: LogEvent): void;
  onNewSpan(span: SpanData): void;
  /** @param fields Only the new fields; `span.fields` has them already. */
  onRecord(span: SpanData, fields: Fields): void;
  onClose(span: SpanData, outcome: SpanOutcome): void;
}
