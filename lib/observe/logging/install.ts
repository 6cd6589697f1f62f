/**
 * Installs the log of the process. Call `installLogging` once, from the entry point, before the first event. A debug build writes plain
 * text to standard error and does not redact; a release build writes JSON and redacts secrets. `RUST_LOG` decides which events are logged,
 * else the default filter of the call.
 *
 * Not for tests: `tracing.withSubscriber` gives each test a separate log.
 *
 * @example
 * installLogging("info,shop=debug");
 */
import { profile, type Profile } from "../../runtime/profile.js";
import { currentSubscriber, installSubscriber } from "../../tracing/flow.js";
import type { Subscriber } from "../../tracing/subscriber.js";
import { Registry, type TracingLayer } from "../../tracing/registry.js";
import { ConsoleLog } from "./console-log.js";
import { Filter, FILTER_ENV } from "./filter.js";
import { JsonLog } from "./json-log.js";
import type { LogSink } from "./sink.js";
import { ObserveError } from "../errors.js";
import { StderrSink } from "./stderr-sink.js";
import { setupError } from "../../errors/setup-error.js";

const MAX_SHOWN_CHARACTERS = 200;

/**
 * Installs the one subscriber of the process.
 *
 * @param defaultFilter The filter if `RUST_LOG` is unset, blank or not valid; see `Filter`.
 * @param layers More layers beside the log, for example for telemetry. The filter applies to them, too.
 * @throws ObserveError `E_LOGGING_INSTALLED` if a subscriber is installed already.
 */
export function installLogging(defaultFilter: string, ...layers: readonly TracingLayer[]): void {
  const sink = new StderrSink();
  const { filter, warnings } = resolveFilter(process.env[FILTER_ENV], defaultFilter);
  if (!installSubscriber(new LogSubscriber(sink, filter, layers))) {
    throw setupError(
      new ObserveError("logging is installed already: call installLogging once, from the entry point", {
        code: "E_LOGGING_INSTALLED",
      }),
    );
  }
  for (const warning of warnings) sink.writeLine(warning);
}

/**
 * The subscriber that `installLogging` installs: a log, and other layers beside it. An application that provides a `LogSink` or a `Filter`
 * gets a separate subscriber, derived from this one. It has a separate log and the same other layers, so that telemetry still exports its
 * spans.
 *
 * Internal: applications use `installLogging` and `provide`.
 */
export class LogSubscriber extends Registry {
  readonly log: TracingLayer;
  readonly otherLayers: Registry;

  constructor(
    readonly sink: LogSink,
    readonly levels: Filter,
    layers: readonly TracingLayer[] = [],
  ) {
    const log = createLogLayer(profile, sink);
    const others = layers.map((layer) => ({ layer, filter: undefined }));
    super([{ layer: log, filter: undefined }, ...others], levels);
    this.log = log;
    this.otherLayers = new Registry(others, levels);
  }
}

/** The log for a build profile: plain text for debug, JSON for release. */
export function createLogLayer(build: Profile, sink: LogSink): TracingLayer {
  return build === "debug" ? new ConsoleLog(sink) : new JsonLog(sink);
}

/** The current subscriber, if it is a `LogSubscriber`. */
export function currentLog(): LogSubscriber | undefined {
  const current = currentSubscriber();
  return current instanceof LogSubscriber ? current : undefined;
}

/**
 * The current subscriber with another log, which writes the events that `levels` selects to `sink`. It always writes JSON, because only the
 * JSON log redacts secrets, and a sink of the application may send lines anywhere. A subscriber without a log keeps all its layers.
 */
export function createSubscriberWithLog(sink: LogSink, levels: Filter): Subscriber {
  return new Registry().with(new JsonLog(sink), levels).and(currentOtherLayers());
}

/** The current subscriber with another filter for its log; `undefined` if it has no log. */
export function createSubscriberWithFilter(levels: Filter): Subscriber | undefined {
  const current = currentLog();
  return current && new Registry().with(current.log, levels).and(current.otherLayers);
}

function currentOtherLayers(): Registry {
  const current = currentSubscriber();
  if (current instanceof LogSubscriber) return current.otherLayers;
  return current instanceof Registry ? current : new Registry();
}

/** A filter, and the warnings about texts that are not valid filters. */
export interface ResolvedFilter {
  readonly filter: Filter;
  readonly warnings: readonly string[];
}

/** The filter in the environment variable, else the default filter, else `info`. */
export function resolveFilter(variable: string | undefined, defaultFilter: string): ResolvedFilter {
  const text = variable === undefined || variable.trim() === "" ? undefined : variable;
  const filter = text === undefined ? undefined : Filter.parse(text);
  if (filter !== undefined) return { filter, warnings: [] };
  const fallback = resolveDefault(defaultFilter);
  if (text === undefined) return fallback;
  const warning = describeInvalidFilter(FILTER_ENV, text, "the default filter");
  return { filter: fallback.filter, warnings: [warning, ...fallback.warnings] };
}

function resolveDefault(defaultFilter: string): ResolvedFilter {
  const filter = Filter.parse(defaultFilter);
  if (filter !== undefined) return { filter, warnings: [] };
  return {
    filter: Filter.upTo("INFO"),
    warnings: [describeInvalidFilter("the default filter", defaultFilter, '"info"')],
  };
}

function describeInvalidFilter(source: string, text: string, replacement: string): string {
  const shown = JSON.stringify(text.slice(0, MAX_SHOWN_CHARACTERS));
  return `warning: ${source} does not parse as a log filter: ${shown}; using ${replacement} (write it like "info,shop=debug")`;
}
