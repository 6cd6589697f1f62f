/** Compile-only: valid and invalid uses of the logging facade, its sinks and filters. */
import { provide } from "../../lib/di/provide.js";
import type { TracingLayer } from "../../lib/tracing/registry.js";
import type { Subscriber } from "../../lib/tracing/subscriber.js";
import { tracing } from "../../lib/tracing/tracing.js";
import { CaptureSink, LogSink } from "../../lib/observe/logging/sink.js";
import { Filter } from "../../lib/observe/logging/filter.js";
import { JsonLog } from "../../lib/observe/logging/json-log.js";
import { apply, DENY_LIST } from "../../lib/observe/logging/redaction.js";

const log = tracing.target("shop::links");

// --- events and spans ----------------------------------------------------------------------------------------------------

log.info("message");
log.info("message", { any: Symbol("value"), at: new Date() });
log.info(undefined, { message: "in the fields" });
log.enabled("debug");
log.enabled("DEBUG");
// @ts-expect-error fields come after a message, or after undefined
log.info({ id: 7 });
// @ts-expect-error an error is a field, not the fields
log.error("failed", new Error("failed"));
// @ts-expect-error there is no such level
log.enabled("verbose");

export const value: number = log.span("span").run(() => 7);
export const promise: Promise<string> = log.span("span", { a: 1 }).run(async () => "text");
// @ts-expect-error run() returns the result of its function
export const wrong: string = log.span("span").run(() => 7);
// @ts-expect-error the facade is read-only
tracing.target = () => log;

// --- layers and sinks ----------------------------------------------------------------------------------------------------

const counting: TracingLayer<{ events: number }> = {
  onNewSpan: () => ({ events: 0 }),
  onEvent(_event, state) {
    if (state !== undefined) state.events++;
  },
};
export const subscriber: Subscriber = tracing.registry().with(new JsonLog(new CaptureSink())).with(counting);
tracing.registry().with(counting, Filter.upTo("WARN"));
// @ts-expect-error a layer is not a subscriber: put it into a registry
tracing.withSubscriber(new JsonLog(new CaptureSink()), () => {});
// @ts-expect-error parse() returns undefined for a text that is not a filter
tracing.registry().filter(Filter.parse("info"));
// @ts-expect-error a sink must implement writeLine
class Silent extends LogSink {}
export const silent = Silent;
// @ts-expect-error a JsonLog needs a sink
export const nowhere = new JsonLog();

// --- injection ---------------------------------------------------------------------------------------------------------

provide(LogSink).useValue(new CaptureSink());
provide(LogSink).useClass(CaptureSink);
provide(Filter).useValue(Filter.upTo("WARN"));
provide(Filter).useFactory(() => new Filter(new Map([["shop", "DEBUG"]])));
// @ts-expect-error a sink writes lines
provide(LogSink).useValue({ write: (line: string) => line });
// @ts-expect-error a layer is not a sink
provide(LogSink).useValue(new JsonLog(new CaptureSink()));
// @ts-expect-error parse() returns undefined for a text that is not a filter
provide(Filter).useValue(Filter.parse("info"));
// @ts-expect-error a string is not a filter
provide(Filter).useValue("info,shop=debug");
// @ts-expect-error there is no such level
export const verbose = new Filter(new Map([["shop", "VERBOSE"]]));

// --- redaction -----------------------------------------------------------------------------------------------------------

export const applied: number | "[redacted]" = apply("status", 200);
// @ts-expect-error the value may be redacted
export const unapplied: number = apply("status", 200);
// @ts-expect-error the list is read-only
DENY_LIST.push("ssn");
