/**
 * The facade that everything emits through; what becomes of an event is the subscriber's business (room `observe`).
 * Until a subscriber is installed, events go nowhere. This file is also the entry point `…/observe/tracing`.
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
  highestInterest,
  verbosityOf,
  type SubscriberHandle,
  type Flow,
  withSubscriber,
} from "./flow.js";
import { VERBOSITY, type Fields, type Level, type LogEvent, type SpanData, type Subscriber } from "./subscriber.js";
import { Span } from "./span.js";
import { Registry } from "./registry.js";

/**
 * A named place that events come from, for example `shop::links`. Made once, at the top of a module, and used from there.
 *
 * An event that nobody wants costs a comparison: each target remembers the highest level anyone is interested in, until
 * subscribers change.
 */
const ERROR = 1;
const WARN = 2;
const INFO = 3;
const DEBUG = 4;
const TRACE = 5;

const NO_FIELDS: Fields = Object.freeze({});

/** Emits under one target. Without a message, pass `undefined` and put what there is to say into fields. */
export class Target {
  #seen = -1;
  #interest = 0;
  // What the dispatch last asked wants: almost always it is the next one, too.
  #dispatchId = 0;
  #wanted = 0;

  constructor(readonly name: string) {}

  trace(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= TRACE || this.#seen !== interestVersion) this.#emit(TRACE, "TRACE", message, fields);
  }

  debug(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= DEBUG || this.#seen !== interestVersion) this.#emit(DEBUG, "DEBUG", message, fields);
  }

  info(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= INFO || this.#seen !== interestVersion) this.#emit(INFO, "INFO", message, fields);
  }

  warn(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= WARN || this.#seen !== interestVersion) this.#emit(WARN, "WARN", message, fields);
  }

  error(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= ERROR || this.#seen !== interestVersion) this.#emit(ERROR, "ERROR", message, fields);
  }

  /** At INFO, in a flow and a span that the caller knows: an access line is outside the span it reports on. @internal */
  infoIn(flow: Flow | undefined, span: SpanData | undefined, message: string, fields: Fields): void {
    this.#refresh();
    if (this.#interest >= INFO) this.#emitIn(flow, span, INFO, "INFO", message, fields);
  }

  /** A span to run work in; see `Span`. */
  span(name: string, fields: Fields = NO_FIELDS): Span {
    return new Span(this.name, name, fields);
  }

  /** Whether an event at `level` would reach anyone from here: worth asking before something costly is computed for it. */
  enabled(level: Level | Lowercase<Level>): boolean {
    // Upper-casing a member of the union gives a member of the union.
    const verbosity = VERBOSITY[level.toUpperCase() as Level];
    const dispatch = currentHandle(currentFlow());
    return dispatch !== undefined && this.#wants(dispatch, verbosity);
  }

  #emit(verbosity: number, level: Level, message: string | undefined, fields: Fields | undefined): void {
    this.#refresh();
    if (this.#interest < verbosity) return;
    const flow = currentFlow();
    this.#emitIn(flow, flow?.span, verbosity, level, message, fields);
  }

  #emitIn(
    flow: Flow | undefined,
    span: SpanData | undefined,
    verbosity: number,
    level: Level,
    message: string | undefined,
    fields: Fields | undefined,
  ): void {
    const dispatch = currentHandle(flow);
    if (dispatch === undefined || !this.#wants(dispatch, verbosity)) return;
    callSubscriber(tell, dispatch, { level, target: this.name, message, fields, span, timestamp: Date.now() });
  }

  #refresh(): void {
    if (this.#seen === interestVersion) return;
    this.#seen = interestVersion;
    this.#interest = highestInterest(this.name);
  }

  #wants(dispatch: SubscriberHandle, verbosity: number): boolean {
    if (this.#dispatchId !== dispatch.id) {
      this.#dispatchId = dispatch.id;
      this.#wanted = verbosityOf(dispatch.subscriber, this.name);
    }
    return this.#wanted >= verbosity;
  }
}

function tell(subscriber: Subscriber, event: LogEvent): void {
  subscriber.onEvent(event);
}

export type {
  Fields,
  Level,
  LevelFilter,
  LogEvent,
  SpanOutcome,
  RemoteParent,
  SpanData,
  Subscriber,
  TargetFilter,
} from "./subscriber.js";
export type { TracingLayer } from "./registry.js";
export type { Span, Registry };

export const tracing = Object.freeze({
  /** The place events come from: usually one per module, named like a path, `shop::links`. */
  target(name: string): Target {
    return new Target(name);
  },

  /** An empty registry; `.with(layer)` makes it a subscriber worth having. */
  registry(): Registry {
    return new Registry();
  },

  /**
   * Runs `fn` with `subscriber` in place of the installed one, across everything asynchronous that `fn` starts, and
   * nowhere else: made for tests.
   *
   * @throws TypeError for what is no subscriber.
   */
  withSubscriber<T>(subscriber: Subscriber, fn: () => T): T {
    checkSubscriber(subscriber);
    return withSubscriber(subscriber, fn);
  },

  /** The innermost span of the running code, to `record` on; `undefined` outside any, and where nobody listens. */
  currentSpan(): Span | undefined {
    const span: SpanData | undefined = currentFlow()?.span;
    return span instanceof Span ? span : undefined;
  },
});

const METHODS = ["maxLevel", "onEvent", "onNewSpan", "onRecord", "onClose"] as const;

/** JavaScript callers may pass anything: a layer without a registry is what is passed most easily, and would hear nothing. */
function checkSubscriber(value: Partial<Subscriber> | null | undefined): void {
  if (METHODS.every((name) => typeof value?.[name] === "function")) return;
  throw new TypeError(
    "withSubscriber(…) was given no subscriber: make one of a layer with tracing.registry().with(layer)",
  );
}
