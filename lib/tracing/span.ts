/**
 * A piece of work with a name and fields. Every event that is emitted inside `run` belongs to the span, also after awaits, in timers and in
 * streams. Layers may add the fields of the span to these events.
 *
 * Not for a single moment: that is an event.
 *
 * @example
 * const span = log.span("import", { file });
 * await span.run(async () => {
 *   span.record({ rows: await load(file) });
 * });
 */
import type { Fields, SpanOutcome, RemoteParent, SpanData, Subscriber } from "./subscriber.js";
import { currentHandle, currentFlow, callSubscriber, runInSpan, type SubscriberHandle, type Flow } from "./flow.js";

const FINISHED: SpanOutcome = Object.freeze({ ok: true });

export class Span implements SpanData {
  subscriberState: unknown;
  parent: SpanData | undefined;
  /** Set when the span is open. */
  #handle: SubscriberHandle | undefined;
  #fields: Fields;
  #running = 0;
  #isClosed = false;

  constructor(
    readonly target: string,
    readonly name: string,
    fields: Fields,
    readonly remoteParent?: RemoteParent,
  ) {
    this.#fields = fields;
  }

  get fields(): Fields {
    return this.#fields;
  }

  /**
   * Runs `fn` inside the span and returns its result. The first run opens the span as a child of the caller's span. The span closes when
   * `fn` returns or throws, or when its promise settles. A later run enters the span again, and its end is not reported again. Without a
   * subscriber, it is a plain call.
   */
  run<T>(fn: () => T): T {
    const flow = currentFlow();
    const handle = this.#handle ?? currentHandle(flow);
    if (handle === undefined) return fn();
    if (this.#handle === undefined) {
      this.#fields = copyFields(this.#fields);
      this.open(handle, flow?.span);
    }
    this.#running++;
    return this.#finish(handle, fn);
  }

  /** Adds or replaces fields, for all later events. */
  record(fields: Fields): void {
    const added = copyFields(fields);
    this.#fields = { ...this.#fields, ...added };
    if (this.#handle === undefined) return;
    callSubscriber((subscriber, span) => subscriber.onRecord(span, added), this.#handle, this);
  }

  /** @internal */
  open(handle: SubscriberHandle, parent: SpanData | undefined): void {
    this.#handle = handle;
    this.parent = parent;
    callSubscriber(callOnNewSpan, handle, this);
  }

  /** Reports the end to the layers; later calls have no effect. @internal */
  close(outcome: SpanOutcome): void {
    if (this.#isClosed || this.#handle === undefined) return;
    this.#isClosed = true;
    callSubscriber((subscriber, span) => subscriber.onClose(span, outcome), this.#handle, this);
  }

  #finish<T>(handle: SubscriberHandle, fn: () => T): T {
    let result: T;
    try {
      result = runInSpan(handle, this, fn);
    } catch (error) {
      this.#leave({ ok: false, error });
      throw error;
    }
    if (result instanceof Promise) return this.#settle(result);
    this.#leave(FINISHED);
    return result;
  }

  // The returned promise settles as the original does, after the span is closed.
  #settle<T extends Promise<unknown>>(result: T): T {
    return result.then(
      (value) => {
        this.#leave(FINISHED);
        return value;
      },
      (error: unknown) => {
        this.#leave({ ok: false, error });
        throw error;
      },
    ) as T;
  }

  #leave(outcome: SpanOutcome): void {
    if (--this.#running === 0) this.close(outcome);
  }
}

/**
 * Opens a span as the current span of this request, without entering another flow; `undefined` outside a request flow. `fields` is not
 * copied and must not change afterwards.
 *
 * The span stays current after `closeSpan`: later events of the request (of a timer, a streamed body, a late failure, an outer stage) have
 * its fields, too. `Target.emitInfo` emits events without them.
 * @internal
 */
export function openSpan(
  target: string,
  name: string,
  fields: Fields,
  remoteParent?: RemoteParent,
  flow: Flow | undefined = currentFlow(),
): Span | undefined {
  if (flow === undefined || !flow.isRequestFlow) return undefined;
  const span = new Span(target, name, fields, remoteParent);
  span.open(flow.handle, flow.span);
  flow.span = span;
  return span;
}

/** Ends a span that `openSpan` opened; as failed, if there is a `failure`. Later calls have no effect. @internal */
export function closeSpan(span: Span | undefined, failure?: { readonly error: unknown }): void {
  span?.close(failure === undefined ? FINISHED : { ok: false, error: failure.error });
}

function callOnNewSpan(subscriber: Subscriber, span: SpanData): void {
  subscriber.onNewSpan(span);
}

/** A copy, because the caller may change its object later. A value that throws is marked. */
function copyFields(fields: Fields): Fields {
  try {
    return { ...fields };
  } catch {
    return copyOneByOne(fields);
  }
}

function copyOneByOne(fields: Fields): Fields {
  try {
    return Object.fromEntries(Object.keys(fields).map((name) => [name, read(fields, name)]));
  } catch {
    // A proxy that does not list its names has no fields.
    return {};
  }
}

function read(fields: Fields, name: string): unknown {
  try {
    return fields[name];
  } catch {
    return "[unreadable]";
  }
}
