/**
 * The log of an application. By default it is the log of the process. An application that provides a `LogSink` or a `Filter` has a separate
 * log, which receives the events of its start, its requests and its stop, and of all work that these start. Other applications pay no cost.
 *
 * Events of constructors and factories go to the log of the process, because they run before this log exists.
 */
import type { Container } from "../di/container.js";
import type { InjectionToken } from "../di/token.js";
import { withSubscriber } from "../tracing/flow.js";
import type { Subscriber } from "../tracing/subscriber.js";
import { Filter } from "../observe/logging/filter.js";
import { createSubscriberWithFilter, createSubscriberWithLog } from "../observe/logging/install.js";
import { LogSink } from "../observe/logging/sink.js";

interface ProvidedLog {
  readonly subscriber: Subscriber | undefined;
  readonly sink: LogSink | undefined;
}

export class ApplicationLog {
  private providedLog: ProvidedLog | undefined;

  constructor(private readonly container: Container) {}

  /**
   * `undefined` if the application logs to the log of the process. The first read decides this from the log that is installed at that time.
   */
  get subscriber(): Subscriber | undefined {
    return (this.providedLog ??= this.resolveLog()).subscriber;
  }

  /** The sink that the application provides. It must be disposed of after all objects that log. */
  get sink(): LogSink | undefined {
    return (this.providedLog ??= this.resolveLog()).sink;
  }

  /** Runs `fn`. Its events, and the events of all work that it starts, go to the application's log. */
  run<T>(fn: () => T): T {
    const { subscriber } = this;
    return subscriber === undefined ? fn() : withSubscriber(subscriber, fn);
  }

  private resolveLog(): ProvidedLog {
    const sink = this.findProvided(LogSink);
    if (sink !== undefined) return { sink, subscriber: createSubscriberWithLog(sink, this.container.get(Filter)) };
    const levels = this.findProvided(Filter);
    return { sink, subscriber: levels && createSubscriberWithFilter(levels) };
  }

  private findProvided<T>(token: InjectionToken<T>): T | undefined {
    return this.container.provides(token) ? this.container.get(token) : undefined;
  }
}
