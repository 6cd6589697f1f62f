/**
 * The subscriber and the span of the running code. One AsyncLocalStorage holds a `Flow`. `Span.run` and `withSubscriber` enter a nested
 * flow. The framework enters one flow for each request and then only reassigns its `span` (see `openSpan`), because entering a flow is
 * expensive and an assignment is not.
 *
 * Internal: applications use `tracing`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { EventEmitter } from "node:events";
import { VERBOSITY, type SpanData, type Subscriber } from "./subscriber.js";

/** A subscriber in use. Targets remember its id and not the object, so that the subscriber can be collected. */
export class SubscriberHandle {
  static #lastId = 0;
  readonly id = ++SubscriberHandle.#lastId;
  constructor(readonly subscriber: Subscriber) {}
}

/** The value of the AsyncLocalStorage. */
export class Flow {
  /** The flow of the request that this flow is part of. Only the `span` of that flow may be reassigned. */
  readonly request: Flow | undefined;

  constructor(
    readonly handle: SubscriberHandle,
    /** The innermost span. Only a request flow reassigns it. */
    public span: SpanData | undefined,
    request?: Flow | "this",
  ) {
    this.request = request === "this" ? this : request;
  }

  /** True for the flow of a request, whose `span` the framework may reassign instead of entering another flow. */
  get isRequestFlow(): boolean {
    return this.request === this;
  }
}

const flows = new AsyncLocalStorage<Flow>();

let installed: SubscriberHandle | undefined;
let isCallingSubscriber = false;

/** Grows when the interest of subscribers may have changed. A target compares it before it uses a remembered interest. */
export let interestVersion = 0;

// A scope has no visible end, because a timer may outlive the call; so scoped subscribers are referenced weakly. The flow of code that can
// still emit to a subscriber references it strongly, so no subscriber in use is missing here.
const scoped = new Set<WeakRef<Subscriber>>();
const handles = new WeakMap<Subscriber, SubscriberHandle>();
const collected = new FinalizationRegistry<WeakRef<Subscriber>>((reference) => {
  scoped.delete(reference);
  interestVersion++;
});

function getHandle(subscriber: Subscriber): SubscriberHandle {
  return handles.get(subscriber) ?? createHandle(subscriber);
}

function createHandle(subscriber: Subscriber): SubscriberHandle {
  const handle = new SubscriberHandle(subscriber);
  const reference = new WeakRef(subscriber);
  handles.set(subscriber, handle);
  scoped.add(reference);
  collected.register(subscriber, reference);
  interestVersion++;
  return handle;
}

/** Sets the one subscriber of the process; `false` if there is one already. @internal */
export function installSubscriber(subscriber: Subscriber): boolean {
  if (installed !== undefined) return false;
  installed = new SubscriberHandle(subscriber);
  interestVersion++;
  return true;
}

/** The subscriber of the running code. @internal */
export function currentSubscriber(): Subscriber | undefined {
  return currentHandle(currentFlow())?.subscriber;
}

/** The verbosity that `subscriber` wants from `target`; 0 if it throws or returns no level. */
export function getVerbosity(subscriber: Subscriber, target: string): number {
  try {
    return VERBOSITY[subscriber.maxLevel(target)] ?? 0;
  } catch {
    return 0;
  }
}

/** The highest verbosity that a subscriber of the process wants from `target`. */
export function getMaxInterest(target: string): number {
  let max = installed === undefined ? 0 : getVerbosity(installed.subscriber, target);
  for (const reference of scoped) {
    const subscriber = reference.deref();
    if (subscriber !== undefined) max = Math.max(max, getVerbosity(subscriber, target));
  }
  return max;
}

/** The flow of the running code. */
export function currentFlow(): Flow | undefined {
  return scoped.size === 0 && installed === undefined ? undefined : flows.getStore();
}

/** The subscriber that receives the events of `flow`: the scoped one, else the installed one. */
export function currentHandle(flow: Flow | undefined): SubscriberHandle | undefined {
  return flow === undefined ? installed : flow.handle;
}

/** Runs `fn` with `subscriber` and outside any span, together with all asynchronous work that `fn` starts. */
export function withSubscriber<T>(subscriber: Subscriber, fn: () => T): T {
  return flows.run(new Flow(getHandle(subscriber), undefined), fn);
}

/** Runs `fn` inside `span`. */
export function runInSpan<T>(handle: SubscriberHandle, span: SpanData, fn: () => T): T {
  return flows.run(new Flow(handle, span, flows.getStore()?.request), fn);
}

/**
 * Enters the flow of a request. It is a root flow and does not inherit the flow in which the socket was opened. Its subscriber is
 * `subscriber`, else that of the surrounding scope, else the installed one. Without a subscriber, it is a plain call.
 * @internal
 */
export function enterRequest<A, T>(run: (argument: A) => T, argument: A, subscriber?: Subscriber): T {
  const handle = subscriber === undefined ? currentHandle(currentFlow()) : getHandle(subscriber);
  if (handle === undefined) return run(argument);
  return flows.run(new Flow(handle, undefined, "this"), run, argument);
}

/**
 * Runs `run` in a request flow, in which `openSpan` can reassign the span: for a layer that is used without the application around it. It
 * is a plain call after `enterRequest`, and without a subscriber.
 * @internal
 */
export function ensureFlow<A, T>(run: (argument: A, flow: Flow | undefined) => T, argument: A): T {
  const flow = currentFlow();
  const handle = currentHandle(flow);
  if (handle === undefined || flow?.isRequestFlow === true) return run(argument, flow);
  const requestFlow = new Flow(handle, flow?.span, "this");
  return flows.run(requestFlow, run, argument, requestFlow);
}

/**
 * Runs `run` in a flow that `currentFlow` returned earlier: for callbacks that Node calls for the connection and not for the request
 * (`close` of a socket, `data` of a request, an abort).
 * @internal
 */
export function resumeFlow<A, T>(flow: Flow | undefined, run: (argument: A) => T, argument: A): T {
  return flow === undefined ? run(argument) : flows.run(flow, run, argument);
}

/** Calls the subscriber. An error that it throws is lost, and events that are emitted during the call are dropped. */
export function callSubscriber<A>(
  call: (subscriber: Subscriber, argument: A) => void,
  to: SubscriberHandle,
  argument: A,
): void {
  if (isCallingSubscriber) return;
  isCallingSubscriber = true;
  try {
    call(to.subscriber, argument);
  } catch {
    // A failing subscriber loses the event. The code that emitted it must not fail.
  } finally {
    isCallingSubscriber = false;
  }
}

/**
 * Makes all listeners of `emitter` run in the flow of the current request; without a request, has no effect. Node emits the events of a
 * request's streams from the connection, which belongs to no request: a listener to `data`, `end` or `close` would lose the fields of the
 * request. The framework calls it for Node's request and response, when the application asks for them, and for a streamed body.
 * @internal
 */
export function bindFlow(emitter: EventEmitter): void {
  const flow = currentFlow()?.request;
  if (flow === undefined) return;
  const emit = emitter.emit.bind(emitter);
  const emitInFlow = (args: Parameters<typeof emit>): boolean => emit(...args);
  emitter.emit = (...args) => {
    const current = currentFlow();
    return current?.request === flow ? emit(...args) : resumeFlow(flow, emitInFlow, args);
  };
}
