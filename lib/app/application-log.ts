/**
 * The log of an application. By default it is the log of the process. An application that provides a `LogSink` or a `Filter` has a log of
 * its own: its start, its requests, its stop, and everything that these start, log there instead. An application with neither pays nothing
 * for this.
 *
 * Events of constructors and factories go to the log of the process, because they run before this log exists.
 */
import type { Container } from "../di/container.js";
import type { InjectionToken } from "../di/token.js";
import { withSubscriber } from "../tracing/flow.js";
import type { Subscriber } from "../tracing/subscriber.js";
import { Filter } from "../observe/logging/filter.js";
import { subscriberWithFilter, subscriberWithLog } from "../observe/logging/install.js";
import { LogSink } from "../observe/logging/sink.js";

interface ProvidedLog {
  readonly subscriber: Subscriber | undefined;
  readonly sink: LogSink | undefined;
}

export class ApplicationLog {
  private providedLog: ProvidedLog | undefined;

  constructor(private readonly container: Container) {}

  /** `undefined` if the application has no log of its own. The first read decides it, by the log that is installed at that time. */
  get subscriber(): Subscriber | undefined {
    return (this.providedLog ??= this.resolveLog()).subscriber;
  }

  /** The sink that the application provides. It must be disposed of after everything that logs. */
  get sink(): LogSink | undefined {
    return (this.providedLog ??= this.resolveLog()).sink;
  }

  /** Runs `fn`. Its events, and those of everything that it starts, go to the application's log. */
  run<T>(fn: () => T): T {
    const { subscriber } = this;
    return subscriber === undefined ? fn() : withSubscriber(subscriber, fn);
  }

  private resolveLog(): ProvidedLog {
    const sink = this.findProvided(LogSink);
    if (sink !== undefined) return { sink, subscriber: subscriberWithLog(sink, this.container.get(Filter)) };
    const levels = this.findProvided(Filter);
    return { sink, subscriber: levels && subscriberWithFilter(levels) };
  }

  private findProvided<T>(token: InjectionToken<T>): T | undefined {
    return this.container.provides(token) ? this.container.get(token) : undefined;
  }
}
