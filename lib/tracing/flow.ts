/**
 * Which subscriber and which span the running code belongs to. One AsyncLocalStorage holds a `Flow`; user spans and
 * `withSubscriber` nest flows properly, while the framework enters one flow a request and then only moves its `span`
 * (see `openSpan` in tracing-span.ts), because entering costs and moving does not.
 *
 * Internal: applications use `tracing` (tracing.ts).
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { EventEmitter } from "node:events";
import { VERBOSITY, type SpanData, type Subscriber } from "./subscriber.js";

/** A subscriber in use. Targets remember its number, which keeps nothing alive. */
export class SubscriberHandle {
  static #last = 0;
  readonly id = ++SubscriberHandle.#last;
  constructor(readonly subscriber: Subscriber) {}
}

/** What an asynchronous flow carries. */
export class Flow {
  /** The flow of the request this one is part of, which is the one whose `span` may be moved. */
  readonly request: Flow | undefined;

  constructor(
    readonly dispatch: SubscriberHandle,
    /** The innermost span; reassigned only in the flow of a request. */
    public span: SpanData | undefined,
    request?: Flow | "this",
  ) {
    this.request = request === "this" ? this : request;
  }

  /** Entered for the framework's layers, which may move `span` instead of entering another flow. */
  get isRequestFlow(): boolean {
    return this.request === this;
  }
}

const flows = new AsyncLocalStorage<Flow>();

let installed: SubscriberHandle | undefined;
let isCallingSubscriber = false;

/** Grows whenever interests may have changed; targets compare it before they trust what they remember. */
export let interestVersion = 0;

// Weak, because a scope has no end one could see: a timer may outlive the call. Whoever can still emit into a
// subscriber holds it strongly through its flow, so nothing that can be reached is ever missing here.
const scoped = new Set<WeakRef<Subscriber>>();
const handles = new WeakMap<Subscriber, SubscriberHandle>();
const collected = new FinalizationRegistry<WeakRef<Subscriber>>((reference) => {
  scoped.delete(reference);
  interestVersion++;
});

function handleOf(subscriber: Subscriber): SubscriberHandle {
  return handles.get(subscriber) ?? makeHandle(subscriber);
}

function makeHandle(subscriber: Subscriber): SubscriberHandle {
  const dispatch = new SubscriberHandle(subscriber);
  const reference = new WeakRef(subscriber);
  handles.set(subscriber, dispatch);
  scoped.add(reference);
  collected.register(subscriber, reference);
  interestVersion++;
  return dispatch;
}

/** @internal Sets the one process-wide subscriber; `false` where there is one already. */
export function installSubscriber(subscriber: Subscriber): boolean {
  if (installed !== undefined) return false;
  installed = new SubscriberHandle(subscriber);
  interestVersion++;
  return true;
}

/** Who listens to the running code. @internal */
export function currentSubscriber(): Subscriber | undefined {
  return currentHandle(currentFlow())?.subscriber;
}

/** The verbosity `subscriber` wants from `target`; 0 where it cannot say. */
export function verbosityOf(subscriber: Subscriber, target: string): number {
  try {
    return VERBOSITY[subscriber.maxLevel(target)] ?? 0;
  } catch {
    return 0;
  }
}

/** The highest verbosity anyone in the process wants from `target`. */
export function highestInterest(target: string): number {
  let highest = installed === undefined ? 0 : verbosityOf(installed.subscriber, target);
  for (const reference of scoped) {
    const subscriber = reference.deref();
    if (subscriber !== undefined) highest = Math.max(highest, verbosityOf(subscriber, target));
  }
  return highest;
}

/** The flow the running code is in. */
export function currentFlow(): Flow | undefined {
  return scoped.size === 0 && installed === undefined ? undefined : flows.getStore();
}

/** Where an event emitted now goes: the scoped subscriber, else the installed one. */
export function currentHandle(flow: Flow | undefined): SubscriberHandle | undefined {
  return flow === undefined ? installed : flow.dispatch;
}

/** Runs `fn` with `subscriber` in charge, across everything asynchronous that `fn` starts, and outside any span. */
export function withSubscriber<T>(subscriber: Subscriber, fn: () => T): T {
  return flows.run(new Flow(handleOf(subscriber), undefined), fn);
}

/** Runs `fn` inside `span`. */
export function runInSpan<T>(dispatch: SubscriberHandle, span: SpanData, fn: () => T): T {
  return flows.run(new Flow(dispatch, span, flows.getStore()?.request), fn);
}

/**
 * Enters the one flow of a request: a root, whatever flow the socket was opened in, under `subscriber`, the subscriber
 * of the surrounding scope, or the installed one. Where there is none it is a plain call.
 * @internal
 */
export function enterRequest<A, T>(run: (argument: A) => T, argument: A, subscriber?: Subscriber): T {
  const dispatch = subscriber === undefined ? currentHandle(currentFlow()) : handleOf(subscriber);
  if (dispatch === undefined) return run(argument);
  return flows.run(new Flow(dispatch, undefined, "this"), run, argument);
}

/**
 * For a layer that is used without the application around it: makes sure that `openSpan` has a flow of its own to move
 * in, and hands it over. A plain call where `enterRequest` has done so already, or where nobody listens.
 * @internal
 */
export function ensureFlow<A, T>(run: (argument: A, flow: Flow | undefined) => T, argument: A): T {
  const flow = currentFlow();
  const dispatch = currentHandle(flow);
  if (dispatch === undefined || flow?.isRequestFlow === true) return run(argument, flow);
  const made = new Flow(dispatch, flow?.span, "this");
  return flows.run(made, run, argument, made);
}

/**
 * Runs `fn` in a flow taken earlier with `currentFlow`: for callbacks that Node calls from the connection rather than
 * from the request (`close` of a socket, `data` of a request, an abort).
 * @internal
 */
export function resumeFlow<A, T>(flow: Flow | undefined, run: (argument: A) => T, argument: A): T {
  return flow === undefined ? run(argument) : flows.run(flow, run, argument);
}

/** Calls into the subscriber: nothing comes back out, and what it emits meanwhile is dropped. */
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
    // A subscriber that fails loses what it was told; the one who emitted must not notice.
  } finally {
    isCallingSubscriber = false;
  }
}

// Keeps what listeners log in the request's flow. Node tells a request's streams of what happens from the connection,
// which belongs to no request in particular: a listener to `data`, `end` or `close` would lose the request's fields.
//
// Internal: done for whoever is handed Node's request or response, and for a body that is streamed.

/** Has all listeners of `emitter` run in the flow of the request that is current now. A call without one does nothing. @internal */
export function keepFlow(emitter: EventEmitter): void {
  const flow = currentFlow()?.request;
  if (flow === undefined) return;
  const emit = emitter.emit.bind(emitter);
  const emitInFlow = (args: Parameters<typeof emit>): boolean => emit(...args);
  emitter.emit = (...args) => {
    const here = currentFlow();
    return here?.request === flow ? emit(...args) : resumeFlow(flow, emitInFlow, args);
  };
}
