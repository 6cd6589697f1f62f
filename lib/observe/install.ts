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
import { installSubscriber } from "../tracing/flow.js";
import type { TracingLayer } from "../tracing/registry.js";
import { Filter, FILTER_ENV } from "./filter.js";
import { LogSubscriber } from "./log-subscriber.js";
import { ObserveError } from "./observe-error.js";
import { StderrSink } from "./stderr-sink.js";

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
