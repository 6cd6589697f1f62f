/**
 * A named place that events come from, for example `shop::links`. Made once, at the top of a module, and used from there.
 *
 * An event that nobody wants costs a comparison: each target remembers the highest level anyone is interested in, until
 * subscribers change.
 */
import {
  currentDispatch,
  currentFlow,
  deliver,
  generation,
  highestInterest,
  verbosityOf,
  type Dispatch,
  type Flow,
} from "./tracing-flow.js";
import { VERBOSITY, type Fields, type Level, type LogEvent, type SpanData, type Subscriber } from "./tracing-port.js";
import { Span } from "./tracing-span.js";

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
    if (this.#interest >= TRACE || this.#seen !== generation) this.#emit(TRACE, "TRACE", message, fields);
  }

  debug(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= DEBUG || this.#seen !== generation) this.#emit(DEBUG, "DEBUG", message, fields);
  }

  info(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= INFO || this.#seen !== generation) this.#emit(INFO, "INFO", message, fields);
  }

  warn(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= WARN || this.#seen !== generation) this.#emit(WARN, "WARN", message, fields);
  }

  error(message: string | undefined, fields?: Fields): void {
    if (this.#interest >= ERROR || this.#seen !== generation) this.#emit(ERROR, "ERROR", message, fields);
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
    const dispatch = currentDispatch(currentFlow());
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
    const dispatch = currentDispatch(flow);
    if (dispatch === undefined || !this.#wants(dispatch, verbosity)) return;
    deliver(tell, dispatch, { level, target: this.name, message, fields, span, timestamp: Date.now() });
  }

  #refresh(): void {
    if (this.#seen === generation) return;
    this.#seen = generation;
    this.#interest = highestInterest(this.name);
  }

  #wants(dispatch: Dispatch, verbosity: number): boolean {
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
