/**
 * A stretch of work with a name and fields. Everything emitted inside `run` belongs to it, across awaits, timers and
 * streams; its fields are folded into those events by the layers that want them.
 *
 * Not for a moment in time: that is an event.
 *
 * @example
 * const span = log.span("import", { file });
 * await span.run(async () => {
 *   span.record({ rows: await load(file) });
 * });
 */
import type { Fields, SpanOutcome, RemoteParent, SpanData, Subscriber } from "./subscriber.js";
import { currentHandle, currentFlow, callSubscriber, runInSpan, type SubscriberHandle, type Flow } from "./flow.js";

/** A copy of fields that their owner may change: the caller's object stays the caller's, and what throws is marked. */
export function copyFields(fields: Fields): Fields {
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
    // A proxy that does not even list its names has none.
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

const FINISHED: SpanOutcome = Object.freeze({ ok: true });

export class Span implements SpanData {
  subscriberState: unknown;
  parent: SpanData | undefined;
  /** Set once it is open. */
  #dispatch: SubscriberHandle | undefined;
  #fields: Fields;
  #running = 0;
  #closed = false;

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
   * Runs `fn` inside the span and answers what it answers. The span opens with the first run, as a child of the span
   * the caller is in, and closes when `fn` returns or throws, or when the promise it returned settles; running it again
   * enters it again and reports nothing more. Where nobody listens, it is a plain call.
   */
  run<T>(fn: () => T): T {
    const flow = currentFlow();
    const dispatch = this.#dispatch ?? currentHandle(flow);
    if (dispatch === undefined) return fn();
    if (this.#dispatch === undefined) {
      this.#fields = copyFields(this.#fields);
      this.open(dispatch, flow?.span);
    }
    this.#running++;
    return this.#finish(dispatch, fn);
  }

  /** Adds fields, or overwrites them, for the events that are still to come. */
  record(fields: Fields): void {
    const added = copyFields(fields);
    this.#fields = { ...this.#fields, ...added };
    if (this.#dispatch === undefined) return;
    callSubscriber((subscriber, span) => subscriber.onRecord(span, added), this.#dispatch, this);
  }

  /** @internal */
  open(dispatch: SubscriberHandle, parent: SpanData | undefined): void {
    this.#dispatch = dispatch;
    this.parent = parent;
    callSubscriber(announce, dispatch, this);
  }

  /** @internal Tells the layers, once, that it is over. */
  close(outcome: SpanOutcome): void {
    if (this.#closed || this.#dispatch === undefined) return;
    this.#closed = true;
    callSubscriber((subscriber, span) => subscriber.onClose(span, outcome), this.#dispatch, this);
  }

  #finish<T>(dispatch: SubscriberHandle, fn: () => T): T {
    let result: T;
    try {
      result = runInSpan(dispatch, this, fn);
    } catch (error) {
      this.#leave({ ok: false, error });
      throw error;
    }
    if (result instanceof Promise) return this.#settle(result);
    this.#leave(FINISHED);
    return result;
  }

  // A promise stays a promise: `then` with both callbacks answers what the original does, only after the span is closed.
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
 * Opens a span and makes it the current one of this request, without entering another flow. `fields` are taken over and
 * must not be changed afterwards. `undefined` where nobody listens.
 *
 * It stays the current one after `closeSpan`: what a handler left behind (a timer, a streaming body, a late failure) and
 * what the outer stages still have to say belong to the request, and keep its fields. `Target.infoIn` is for what must not
 * carry them.
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
  span.open(flow.dispatch, flow.span);
  flow.span = span;
  return span;
}

/** Ends a span of `openSpan`; with `failure`, as failed. A second call does nothing. @internal */
export function closeSpan(span: Span | undefined, failure?: { readonly error: unknown }): void {
  span?.close(failure === undefined ? FINISHED : { ok: false, error: failure.error });
}

function announce(subscriber: Subscriber, span: SpanData): void {
  subscriber.onNewSpan(span);
}
