/**
 * The facade for events and spans. The subscriber decides what happens with an event; without a subscriber, events are dropped.
 *
 * @example
 * const log = tracing.target("shop::links");
 * log.info("link created", { id });
 * await log.span("import", { file }).run(() => load(file));
 */
import {
  currentHandle,
  currentFlow,
  callSubscriber,
  interestVersion,
  getMaxInterest,
  getVerbosity,
  type SubscriberHandle,
  type Flow,
  withSubscriber,
} from "./flow.js";
import { VERBOSITY, type Fields, type Level, type LogEvent, type SpanData, type Subscriber } from "./subscriber.js";
import { Span } from "./span.js";
import { Registry } from "./registry.js";

const ERROR = 1;
const WARN = 2;
const INFO = 3;
const DEBUG = 4;
const TRACE = 5;

const NO_FIELDS: Fields = Object.freeze({});

/**
 * A named source of events, for example `shop::links`. Create one for each module and keep it in a constant. For an event without a
 * message, pass `undefined` and only fields.
 *
 * An event that no subscriber wants costs one comparison: a target remembers the highest wanted level until subscribers change.
 */
export class Target {
  #version = -1;
  #interest = 0;
  // The verbosity that the last subscriber wants. The next event almost always goes to the same subscriber.
  #handleId = 0;
  #wantedByHandle = 0;

  constructor(readonly name: string) {}

  trace(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= TRACE || this.#version !== interestVersion) this.#emit(TRACE, "TRACE", message, fields);
  }

  debug(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= DEBUG || this.#version !== interestVersion) this.#emit(DEBUG, "DEBUG", message, fields);
  }

  info(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= INFO || this.#version !== interestVersion) this.#emit(INFO, "INFO", message, fields);
  }

  warn(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= WARN || this.#version !== interestVersion) this.#emit(WARN, "WARN", message, fields);
  }

  error(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= ERROR || this.#version !== interestVersion) this.#emit(ERROR, "ERROR", message, fields);
  }

  /** Emits at INFO in the given flow and span: an access log line is outside the span that it reports on. @internal */
  emitInfo(flow: Flow | undefined, span: SpanData | undefined, message: string, fields: Fields): void {
    this.#refresh();
    if (this.#interest >= INFO) this.#emitInFlow(flow, span, INFO, "INFO", message, fields);
  }

  /** Creates a span; see `Span`. */
  span(name: string, fields: Fields = NO_FIELDS): Span {
    return new Span(this.name, name, fields);
  }

  /** True if the current subscriber wants events of this level. Use it before you compute expensive fields. */
  enabled(level: Level | Lowercase<Level>): boolean {
    const handle = currentHandle(currentFlow());
    // The upper case of each member of the union is a member of the union.
    return handle !== undefined && this.#wants(handle, VERBOSITY[level.toUpperCase() as Level]);
  }

  #emit(verbosity: number, level: Level, message: string | undefined, fields: Fields | undefined): void {
    this.#refresh();
    if (this.#interest < verbosity) return;
    const flow = currentFlow();
    this.#emitInFlow(flow, flow?.span, verbosity, level, message, fields);
  }

  #emitInFlow(
    flow: Flow | undefined,
    span: SpanData | undefined,
    verbosity: number,
    level: Level,
    message: string | undefined,
    fields: Fields | undefined,
  ): void {
    const handle = currentHandle(flow);
    if (handle === undefined || !this.#wants(handle, verbosity)) return;
    callSubscriber(callOnEvent, handle, { level, target: this.name, message, fields, span, timestamp: Date.now() });
  }

  #refresh(): void {
    if (this.#version === interestVersion) return;
    this.#version = interestVersion;
    this.#interest = getMaxInterest(this.name);
  }

  #wants(handle: SubscriberHandle, verbosity: number): boolean {
    if (this.#handleId !== handle.id) {
      this.#handleId = handle.id;
      this.#wantedByHandle = getVerbosity(handle.subscriber, this.name);
    }
    return this.#wantedByHandle >= verbosity;
  }
}

function callOnEvent(subscriber: Subscriber, event: LogEvent): void {
  subscriber.onEvent(event);
}

export const tracing = Object.freeze({
  /** A source of events, usually one for each module, with a name like a path: `shop::links`. */
  target(name: string): Target {
    return new Target(name);
  },

  /** An empty registry. Add layers with `.with(layer)`. */
  registry(): Registry {
    return new Registry();
  },

  /**
   * Runs `fn`, and all asynchronous work that it starts, with `subscriber` in place of the installed one: for tests.
   *
   * @throws TypeError if `subscriber` lacks a method.
   */
  withSubscriber<T>(subscriber: Subscriber, fn: () => T): T {
    checkSubscriber(subscriber);
    return withSubscriber(subscriber, fn);
  },

  /** The innermost span of the running code, for `record`; `undefined` outside any span and without a subscriber. */
  currentSpan(): Span | undefined {
    const span: SpanData | undefined = currentFlow()?.span;
    return span instanceof Span ? span : undefined;
  },
});

const METHODS = ["maxLevel", "onEvent", "onNewSpan", "onRecord", "onClose"] as const;

/** A JavaScript caller may pass any value. A common mistake is a layer without a registry, which would receive no events. */
function checkSubscriber(value: Partial<Subscriber> | null | undefined): void {
  if (METHODS.every((name) => typeof value?.[name] === "function")) return;
  throw new TypeError(
    "withSubscriber(…) needs a subscriber: make one from a layer with tracing.registry().with(layer)",
  );
}
