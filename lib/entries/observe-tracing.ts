/** The entry point `@stagecraft/framework/observe/tracing`: the logging facade alone, and the types that a subscriber implements. */
export { tracing } from "../tracing/tracing.js";
export type { Span } from "../tracing/span.js";
export type { Target } from "../tracing/tracing.js";
export type { Registry, TracingLayer } from "../tracing/registry.js";
export type {
  Fields,
  Level,
  LevelFilter,
  LogEvent,
  SpanOutcome,
  RemoteParent,
  SpanData,
  Subscriber,
  TargetFilter,
} from "../tracing/subscriber.js";
