/**
 * `@On(event)`: the method of a provider that gets the payload of each emitted event. A method may listen to several events.
 *
 * @example
 * class Announcer {
 *   @On(linkCreated) announce({ id }: { id: string }) { … }
 *   @On(linkCreated, { afterResponse: true }) async index({ id }: { id: string }) { … }
 *   @On(linkCreated, { inTransaction: true }) async audit({ id }: { id: string }) { … }
 *   @On(linkCreated, { queued: true }) async report({ id }: { id: string }) { … }
 * }
 */
import { requireParentheses } from "../errors/bare-decorator.js";
import { refuseForeignCopy } from "../errors/copy.js";
import { recordDecorated } from "../di/unlisted.js";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import type { FrameworkError } from "../errors/framework-error.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import type { AnyHandler } from "../endpoints/handler.js";
import { MethodRecords, toDecoratedMethod } from "../endpoints/method-records.js";
import type { EventType } from "./event.js";

export interface ListenerOptions {
  /** The listener runs after the response is sent. `emit` does not wait for it; the drain does. */
  readonly afterResponse?: boolean;
  /** Inside a transaction the listener runs at once, as a part of it: `emit` rejects with its error, so that the transaction rolls back. */
  readonly inTransaction?: boolean;
  /**
   * The call is a job of `Jobs`, so it outlives the request and the process, and is retried until it succeeds. `emit` adds the job, inside
   * a transaction as a part of it, and rejects if that fails.
   */
  readonly queued?: boolean;
}

const NAMES: OptionNames<ListenerOptions> = { afterResponse: true, inTransaction: true, queued: true };

/** The time at which a listener runs. */
export type ListenerTime = "emitted" | "responded" | "in transaction" | "queued";

/** A decorated method. */
export interface ListenerMethod {
  readonly event: EventType;
  readonly key: string | symbol;
  readonly time: ListenerTime;
}

/**
 * Every type, for a method that takes the payload. For other methods it is a type that neither a method nor its descriptor has, and the name
 * of its property is the text of the compiler's error.
 */
export type ListensTo<H extends AnyHandler, P> =
  Parameters<H> extends []
    ? unknown
    : [P] extends Parameters<H>
      ? unknown
      : { readonly "listener asks for a payload that the event does not have": P };

/** The standard kind of call comes first, as in `Endpoint`. */
export interface ListenerDecorator<P> {
  <H extends AnyHandler>(method: H & ListensTo<H, P>, context: ClassMethodDecoratorContext): void;
  <H extends AnyHandler>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<H> & ListensTo<H, P>,
  ): void;
}

const listeners = new MethodRecords<Omit<ListenerMethod, "key">>();

/**
 * @throws FrameworkError `E_EVENT_LISTENER` for a value that does not come from `event()`, and for two options; `E_DECORATOR_KIND` above
 *   anything but a public instance method
 */
export function On<P>(
  event: EventType<P>,
  options: ListenerOptions = {},
  ...none: readonly never[]
): ListenerDecorator<P> {
  requireParentheses("On(event)", ["method"], event, [options, ...none]);
  refuseForeignCopy(event);
  checkOptionNames(options, NAMES, "@On");
  if (typeof event !== "object" || typeof event?.name !== "string")
    throw listenerError(`@On needs an event, not ${valueText(event)}`);
  const time = getListenerTime(options);
  return (target: object, ...rest: readonly unknown[]): void => {
    const method = toDecoratedMethod("On(event)", target, rest);
    recordDecorated(method.declaredBy, "@On");
    listeners.add(method, { event, time });
  };
}

function getListenerTime({
  afterResponse = false,
  inTransaction = false,
  queued = false,
}: ListenerOptions): ListenerTime {
  if ([afterResponse, inTransaction, queued].filter(Boolean).length > 1)
    throw listenerError("@On takes one of afterResponse, inTransaction and queued");
  if (afterResponse) return "responded";
  if (queued) return "queued";
  return inTransaction ? "in transaction" : "emitted";
}

/** The decorated methods of an object's class and of its bases, base first. A method that is decorated again has only its new events. */
export function getListenerMethods(instance: object): readonly ListenerMethod[] {
  return [...listeners.getOfInstance(instance)].flatMap(([key, own]) => own.map((each) => ({ ...each, key })));
}

function listenerError(what: string): FrameworkError {
  return createSetupError("E_EVENT_LISTENER", what);
}
