/**
 * Emits events to the listeners of one application. Inject the class, which is visible in every module.
 *
 * A listener runs when the event is emitted, and `emit` waits for it. Inside a transaction it runs after the commit of the outermost
 * transaction, and not at all if that rolls back. The failure of a listener is an ERROR event, and the others still run. The options of
 * `@On` change this for one listener. The subsystem `Jobs` is the queue for the calls of a listener with `queued`.
 *
 * @example
 * constructor(private readonly events: Events) {}
 * await this.events.emit(linkCreated, { id });
 */
import { refuseForeignCopy } from "../errors/copy.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { FrameworkError } from "../errors/framework-error.js";
import { validate } from "../http/body/validate.js";
import { currentCommitScope, inCommitScope } from "../lifecycle/commit-scope.js";
import { currentWorkScope, inWorkScope } from "../lifecycle/work-scope.js";
import { type Clock, OVERDUE, within } from "../runtime/clock.js";
import { tracing } from "../tracing/tracing.js";
import type { EventType } from "./event.js";
import { getListenerMethods, type ListenerTime } from "./on.js";

const log = tracing.target("framework::events");

type NamedEvent = Pick<EventType, "name">;

/** A method of an instance that listens. */
export interface EventListener {
  readonly event: EventType;
  /** `Announcer.announce`. */
  readonly name: string;
  readonly time: ListenerTime;
  readonly call: (payload: unknown) => unknown;
}

/** An event that a module declares or a method listens to. */
export interface KnownEvent {
  readonly name: string;
  readonly listeners: readonly EventListener[];
}

/** Adds a call of one listener to a queue: inside a transaction only if that commits. */
export type AddCall = (payload: unknown) => Promise<unknown>;

export class Events {
  private readonly byEvent = new Map<NamedEvent, EventListener[]>();
  private readonly queues = new Map<EventListener, AddCall>();
  private readonly running = new Map<Promise<void>, EventListener>();

  constructor(private readonly clock: Clock) {}

  /**
   * Calls each listener with the payload, in the order in which their objects were built and their methods declared. Resolves when all
   * listeners that it waits for have ended.
   *
   * @throws FrameworkError `E_TWO_COPIES` for an event of another copy of the package
   * @throws ValidationError if the schema of the event refuses the payload; the error of a listener with `inTransaction`; the error of
   * `Jobs` for a listener with `queued`
   */
  async emit<P>(event: EventType<P>, ...payload: P extends void ? [] : [payload: P]): Promise<void> {
    const [given] = payload as readonly unknown[];
    const value = event.schema === undefined ? given : await validate(event.schema, given);
    const listeners = this.byEvent.get(event);
    // No method can listen to it, so the event would be lost.
    if (listeners === undefined) refuseForeignCopy(event);
    for (const listener of listeners ?? []) {
      // The schema of the job parses the given payload again.
      if (listener.time === "queued") await this.queues.get(listener)?.(given);
      else await this.deliver(listener, value);
    }
  }

  /** For the graph of the application. @internal */
  listEvents(): readonly KnownEvent[] {
    return [...this.byEvent].map(([{ name }, listeners]) => ({ name, listeners }));
  }

  /** The listeners, event by event. @internal */
  listeners(): readonly EventListener[] {
    return [...this.byEvent.values()].flat();
  }

  /** Adds events that may have no listener. Two events with the same name are refused. @internal */
  declare(events: readonly NamedEvent[]): void {
    for (const event of events) this.ensureListeners(event);
  }

  /** Adds the listeners among the instances of the application. Two events with the same name are refused. @internal */
  collect(instances: readonly unknown[]): void {
    for (const instance of instances) {
      if (typeof instance === "object" && instance !== null) this.addListeners(instance);
    }
  }

  /**
   * Calls `createQueue` for each listener with `queued`. The queue later runs each call with `callListener`, in this process or in another.
   * @internal
   */
  queueWith(createQueue: (listener: EventListener) => AddCall): void {
    for (const listener of this.listQueued()) this.queues.set(listener, createQueue(listener));
  }

  /** One diagnostic for each listener with `queued` that has no queue. @internal */
  check(): readonly Diagnostic[] {
    return this.listQueued().flatMap((listener) => (this.queues.has(listener) ? [] : [withoutQueue(listener)]));
  }

  /**
   * Waits for the listeners that run after a response, `limitMs` at most. Called when the last request has ended. Returns the names of
   * those that still run.
   * @internal
   */
  async waitUntilIdle(limitMs: number): Promise<readonly string[]> {
    const all = (async () => {
      while (this.running.size > 0) await Promise.all(this.running.keys());
    })();
    if ((await within(this.clock, limitMs, all)) !== OVERDUE) return [];
    const names = [...this.running.values()].map(({ name }) => name);
    log.error("listeners did not end before the stop", { listeners: names, limit_ms: limitMs });
    return names;
  }

  private addListeners(instance: object): void {
    for (const { event, key, time } of getListenerMethods(instance)) {
      const name = `${instance.constructor.name}.${String(key)}`;
      const call = (payload: unknown): unknown => getMethod(instance, key).call(instance, payload);
      this.ensureListeners(event).push({ event, name, time, call });
    }
  }

  private listQueued(): readonly EventListener[] {
    return this.listeners().filter(({ time }) => time === "queued");
  }

  private ensureListeners(event: NamedEvent): EventListener[] {
    const known = this.byEvent.get(event);
    if (known !== undefined) return known;
    const sameNamed = [...this.byEvent.keys()].find(({ name }) => name === event.name);
    if (sameNamed !== undefined) throw sameNameError(event.name);
    const listeners: EventListener[] = [];
    this.byEvent.set(event, listeners);
    return listeners;
  }

  private async deliver(listener: EventListener, payload: unknown): Promise<void> {
    if (listener.time === "in transaction") return callListener(listener, payload);
    const run = () =>
      listener.time === "responded" ? this.runAfterResponse(listener, payload) : runIsolated(listener, payload);
    const transaction = currentCommitScope();
    if (transaction === undefined) await run();
    else transaction.afterCommit(run);
  }

  /** Outside a request the listener starts at once. */
  private runAfterResponse(listener: EventListener, payload: unknown): void {
    const scope = currentWorkScope();
    const ended = new Promise<void>((resolve) => {
      const start = (): void => void runOutsideScopes(() => runIsolated(listener, payload)).then(resolve);
      if (scope?.afterResponse === undefined) start();
      else scope.afterResponse(start);
    });
    this.running.set(ended, listener);
    void ended.then(() => this.running.delete(ended));
  }
}

/** Runs outside of the request and its transaction, because both have ended. */
function runOutsideScopes<T>(run: () => T): T {
  return inCommitScope(undefined, () => inWorkScope(undefined, run, undefined));
}

async function runIsolated(listener: EventListener, payload: unknown): Promise<void> {
  try {
    await callListener(listener, payload);
  } catch (error) {
    log.error("event listener failed", { event: listener.event.name, listener: listener.name, error });
  }
}

/** Calls the listener inside its span. @internal */
export async function callListener({ event, name, call }: EventListener, payload: unknown): Promise<void> {
  const span = log.span("framework.event.listener", { event: event.name, listener: name });
  await span.run(async () => call(payload));
}

/** Read at each call, so that a test may replace the method of an instance. */
function getMethod(instance: object, key: string | symbol): (payload: unknown) => unknown {
  return Reflect.get(instance, key) as (payload: unknown) => unknown; // `@On` decorates methods only.
}

function withoutQueue({ event, name }: EventListener): Diagnostic {
  return {
    code: "E_EVENT_QUEUE",
    what: `${name} listens to ${event.name} with { queued: true }, and no Jobs is provided`,
    where: name,
    fix: "provide Jobs of @stagecraft/framework/jobs; in a test new Jobs({ store: new MemoryJobs() })",
  };
}

function sameNameError(name: string): FrameworkError {
  const what = `two events are named ${name}: keep each event in one constant and import it`;
  return new FrameworkError(what, { code: "E_EVENT_NAME" });
}
