/**
 * Turns logging on for the process: called once, from the entry point, before anything logs. In a debug build events go
 * to standard error as plain text, nothing withheld; in a release build as JSON, secrets withheld. Which events is
 * decided by `RUST_LOG`, else by the default given here.
 *
 * Not for tests: `tracing.withSubscriber` gives each its own.
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

/**
 * The subscriber that `installLogging` installs: a log, and other layers beside it. An application that provides a `LogSink` or a `Filter`
 * has one of its own made of it, in which the other layers keep their place: whoever exports spans goes on exporting them.
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
    const log = logLayer(profile, sink);
    const besides = layers.map((layer) => ({ layer, filter: undefined }));
    super([{ layer: log, filter: undefined }, ...besides], levels);
    this.log = log;
    this.otherLayers = new Registry(besides, levels);
  }
}

/** The log of a build: plain text for debug, JSON for release. */
export function logLayer(build: Profile, sink: LogSink): TracingLayer {
  return build === "debug" ? new ConsoleLog(sink) : new JsonLog(sink);
}

/** The log that the running code writes to, where it is one of these. */
export function currentLog(): LogSubscriber | undefined {
  const around = currentSubscriber();
  return around instanceof LogSubscriber ? around : undefined;
}

/**
 * The present subscriber with its log replaced by one that writes what `levels` wants to `sink`, always as JSON: a sink somebody wrote may
 * lead anywhere, and only that form withholds secrets. A subscriber that has no log to replace gets one beside its layers.
 */
export function subscriberWithLog(sink: LogSink, levels: Filter): Subscriber {
  return new Registry().with(new JsonLog(sink), levels).and(layersBesideLog());
}

/** The present subscriber with its log under another filter; `undefined` where there is no log. */
export function subscriberWithFilter(levels: Filter): Subscriber | undefined {
  const log = currentLog();
  return log && new Registry().with(log.log, levels).and(log.otherLayers);
}

function layersBesideLog(): Registry {
  const around = currentSubscriber();
  if (around instanceof LogSubscriber) return around.otherLayers;
  return around instanceof Registry ? around : new Registry();
}

const SHOWN_CHARACTERS = 200;

/**
 * Installs the one subscriber of the process.
 *
 * @param defaultFilter What is logged where `RUST_LOG` is unset or blank, or does not parse; see `Filter`.
 * @param layers More layers beside the log, for example that of the telemetry; the filter is theirs, too.
 * @throws ObserveError `E_LOGGING_INSTALLED` where one is installed already.
 */
export function installLogging(defaultFilter: string, ...layers: readonly TracingLayer[]): void {
  const sink = new StderrSink();
  const { filter, warnings } = resolveFilter(process.env[FILTER_ENV], defaultFilter);
  if (!installSubscriber(new LogSubscriber(sink, filter, layers))) {
    throw new ObserveError("logging is installed already: call installLogging once, from the entry point", {
      code: "E_LOGGING_INSTALLED",
    });
  }
  for (const warning of warnings) sink.writeLine(warning);
}

/** A filter, and what has to be said about how it was found. */
export interface ResolvedFilter {
  readonly filter: Filter;
  readonly warnings: readonly string[];
}

/** The resolution table of section 3.3: the variable, else the default, else `info`. */
export function resolveFilter(variable: string | undefined, defaultFilter: string): ResolvedFilter {
  const asked = variable === undefined || variable.trim() === "" ? undefined : variable;
  const filter = asked === undefined ? undefined : Filter.parse(asked);
  if (filter !== undefined) return { filter, warnings: [] };
  const fallback = resolveDefault(defaultFilter);
  if (asked === undefined) return fallback;
  return {
    filter: fallback.filter,
    warnings: [unparsable(FILTER_ENV, asked, "the default filter"), ...fallback.warnings],
  };
}

function resolveDefault(defaultFilter: string): ResolvedFilter {
  const filter = Filter.parse(defaultFilter);
  if (filter !== undefined) return { filter, warnings: [] };
  return { filter: Filter.upTo("INFO"), warnings: [unparsable("the default filter", defaultFilter, '"info"')] };
}

function unparsable(what: string, text: string, instead: string): string {
  const shown = JSON.stringify(text.slice(0, SHOWN_CHARACTERS));
  return `warning: ${what} does not parse as a log filter: ${shown}; using ${instead} (write it like "info,shop=debug")`;
}
