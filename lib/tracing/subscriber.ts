/**
 * The words between those who emit and those who collect: levels, events, spans as data, and the `Subscriber` port.
 * Types and one small table; nothing here runs. Implement `TracingLayer` (tracing-registry.ts) rather than `Subscriber` unless
 * you mean to replace the registry itself.
 */

/** Names and values recorded with an event or a span. Values may be anything; what cannot be shown is marked, never thrown. */
export type Fields = Readonly<Record<string, unknown>>;

/** From the most to the least urgent, spelled as in the log line. */
export type Level = "ERROR" | "WARN" | "INFO" | "DEBUG" | "TRACE";

/** The least urgent level that still interests someone; `"OFF"` where none does. */
export type LevelFilter = Level | "OFF";

/** A level as a number: an event is wanted where its verbosity is at most that of the filter. */
export const VERBOSITY: Readonly<Record<LevelFilter, number>> = Object.freeze({
  OFF: 0,
  ERROR: 1,
  WARN: 2,
  INFO: 3,
  DEBUG: 4,
  TRACE: 5,
});

/** Decides by target which levels are wanted. Must answer the same for the same target, always: the answer is cached. */
export interface TargetFilter {
  maxLevel(target: string): LevelFilter;
}

/** The caller's span, where a trace was continued from upstream (W3C Trace Context). Only exporters look at it. */
export interface RemoteParent {
  /** 32 lower-case hex characters. */
  readonly traceId: string;
  /** 16 lower-case hex characters. */
  readonly spanId: string;
  /** The flags octet, 0 to 255. */
  readonly traceFlags: number;
  readonly traceState?: string | undefined;
}

/** A span as its layers see it. */
export interface SpanData {
  readonly target: string;
  readonly name: string;
  /** The span's own fields, later recorded ones included; not those of its parents. */
  readonly fields: Fields;
  readonly parent: SpanData | undefined;
  readonly remoteParent?: RemoteParent | undefined;
  /** Belongs to the subscriber the span was opened under. */
  subscriberState: unknown;
}

/** How a span ended. */
export type SpanOutcome = { readonly ok: true } | { readonly ok: false; readonly error: unknown };

/** One thing that happened. */
export interface LogEvent {
  readonly level: Level;
  readonly target: string;
  /** `undefined` where the event recorded none. */
  readonly message: string | undefined;
  readonly fields: Fields | undefined;
  /** The innermost span the event happened in. */
  readonly span: SpanData | undefined;
  /** Milliseconds since the Unix epoch, by the machine's clock. */
  readonly timestamp: number;
}

/**
 * Where events and spans go. Whatever a method throws is lost and never reaches the one who emitted; events emitted
 * while a method runs are dropped, so that a sink which logs cannot feed itself.
 */
export interface Subscriber extends TargetFilter {
  onEvent(event: LogEvent): void;
  onNewSpan(span: SpanData): void;
  /** `fields` are the new ones only; `span.fields` already holds them. */
  onRecord(span: SpanData, fields: Fields): void;
  onClose(span: SpanData, outcome: SpanOutcome): void;
}
