/**
 * Where an application logs. Usually where the process does; one that provides a `LogSink` or a `Filter` has a log of its own: its start,
 * its requests and its end, and whatever they begin, are told there and not in the process's. Costs nothing where neither is provided.
 *
 * What constructors and factories say while the application is built comes too early for it.
 */
import type { Container } from "../di/container.js";
import type { InjectionToken } from "../di/token.js";
import { withSubscriber } from "../tracing/flow.js";
import type { Subscriber } from "../tracing/subscriber.js";
import { Filter } from "../observe/logging/filter.js";
import { subscriberWithFilter, subscriberWithLog } from "../observe/logging/install.js";
import { LogSink } from "../observe/logging/sink.js";

/** What an application has of its own. */
interface Own {
  readonly subscriber: Subscriber | undefined;
  readonly sink: LogSink | undefined;
}

export class ApplicationLog {
  private own: Own | undefined;

  constructor(private readonly container: Container) {}

  /** `undefined` where the application logs where the process does. Decided at the first look, by what is installed then. */
  get subscriber(): Subscriber | undefined {
    return (this.own ??= this.find()).subscriber;
  }

  /** The sink that it provides, which has to outlive everything that logs. */
  get sink(): LogSink | undefined {
    return (this.own ??= this.find()).sink;
  }

  /** Runs `fn` so that its events, and those of everything it starts, are the application's. */
  run<T>(fn: () => T): T {
    const { subscriber } = this;
    return subscriber === undefined ? fn() : withSubscriber(subscriber, fn);
  }

  private find(): Own {
    const sink = this.provided(LogSink);
    if (sink !== undefined) return { sink, subscriber: subscriberWithLog(sink, this.container.get(Filter)) };
    const levels = this.provided(Filter);
    return { sink, subscriber: levels && subscriberWithFilter(levels) };
  }

  private provided<T>(token: InjectionToken<T>): T | undefined {
    return this.container.provides(token) ? this.container.get(token) : undefined;
  }
}
