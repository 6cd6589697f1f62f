/** The entry point `@stagecraft/framework/observe/tracing`: the logging facade alone, and the types that a subscriber implements. */
export { tracing } from "../kernel/tracing.js";
export type { Span } from "../kernel/tracing-span.js";
export type { Target } from "../kernel/tracing-target.js";
export type { Registry, TracingLayer } from "../kernel/tracing-registry.js";
export type {
  Fields,
  Level,
  LevelFilter,
  LogEvent,
  Outcome,
  RemoteParent,
  SpanData,
  Subscriber,
  TargetFilter,
} from "../kernel/tracing-port.js";
