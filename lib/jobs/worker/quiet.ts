/**
 * The calls that a worker makes for itself: claims, signs of life, completions. An idle worker makes one each second, and each would be a
 * trace of its own and a DEBUG event. They show as metrics; what goes wrong, or is slow, is an event as always.
 *
 * Not for what a handler or a dispatch does: that belongs to a trace.
 */
import { currentSubscriber, withSubscriber } from "../../tracing/flow.js";
import { type LevelFilter, type LogEvent, type Subscriber, VERBOSITY } from "../../tracing/subscriber.js";

class WarningsOnly implements Subscriber {
  constructor(private readonly all: Subscriber) {}

  maxLevel(target: string): LevelFilter {
    const wanted = this.all.maxLevel(target);
    return VERBOSITY[wanted] > VERBOSITY.WARN ? "WARN" : wanted;
  }

  /** The subscriber does not know the spans around the event. */
  onEvent(event: LogEvent): void {
    this.all.onEvent({ ...event, span: undefined });
  }

  onNewSpan(): void {}
  onRecord(): void {}
  onClose(): void {}
}

const quietSubscribers = new WeakMap<Subscriber, WarningsOnly>();

/** Runs `work` without spans, and without events below WARN. */
export function runQuietly<T>(work: () => T): T {
  const subscriber = currentSubscriber();
  if (subscriber === undefined || subscriber instanceof WarningsOnly) return work();
  let quiet = quietSubscribers.get(subscriber);
  if (quiet === undefined) {
    quiet = new WarningsOnly(subscriber);
    quietSubscribers.set(subscriber, quiet);
  }
  return withSubscriber(quiet, work);
}
