/**
 * The subscriber that `installLogging` installs: a log, and other layers beside it. An application that provides a `LogSink` or a `Filter`
 * has one of its own made of it, in which the other layers keep their place: whoever exports spans goes on exporting them.
 *
 * Internal: applications use `installLogging` and `provide`.
 */
import { profile, type Profile } from "../runtime/profile.js";
import { currentSubscriber } from "../tracing/flow.js";
import type { Subscriber } from "../tracing/subscriber.js";
import { Registry, type TracingLayer } from "../tracing/registry.js";
import { ConsoleLog } from "./console-log.js";
import { Filter } from "./filter.js";
import { JsonLog } from "./json-log.js";
import type { LogSink } from "./sink.js";

export class LogSubscriber extends Registry {
  readonly log: TracingLayer;
  readonly beside: Registry;

  constructor(
    readonly sink: LogSink,
    readonly levels: Filter,
    layers: readonly TracingLayer[] = [],
  ) {
    const log = logLayer(profile, sink);
    const besides = layers.map((layer) => ({ layer, filter: undefined }));
    super([{ layer: log, filter: undefined }, ...besides], levels);
    this.log = log;
    this.beside = new Registry(besides, levels);
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
export function logInstead(sink: LogSink, levels: Filter): Subscriber {
  return new Registry().with(new JsonLog(sink), levels).and(layersBesideLog());
}

/** The present subscriber with its log under another filter; `undefined` where there is no log. */
export function filterInstead(levels: Filter): Subscriber | undefined {
  const log = currentLog();
  return log && new Registry().with(log.log, levels).and(log.beside);
}

function layersBesideLog(): Registry {
  const around = currentSubscriber();
  if (around instanceof LogSubscriber) return around.beside;
  return around instanceof Registry ? around : new Registry();
}
