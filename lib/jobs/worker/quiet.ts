/**
 * Runs the internal calls of a worker without spans: claims, heartbeats, completions. An idle worker makes one call each second, and each
 * would be a separate trace and a DEBUG event. Metrics still count these calls. A call that fails, or is slow, is still an event.
 *
 * Not for the work of a handler or of a dispatch, which belongs to a trace.
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
