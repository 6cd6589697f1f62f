/**
 * Combines layers into one subscriber. Each layer sees every span, and the events that pass the filter of the layer and the filter of the
 * registry. Each layer keeps separate state for a span, so layers do not depend on each other.
 *
 * @example
 * const sink = new CaptureSink();
 * tracing.withSubscriber(tracing.registry().with(new JsonLog(sink)), () => log.info("hello"));
 */
import {
  VERBOSITY,
  type Fields,
  type LevelFilter,
  type LogEvent,
  type SpanOutcome,
  type SpanData,
  type Subscriber,
  type TargetFilter,
} from "./subscriber.js";

/**
 * Collects events and spans. All methods are optional and synchronous. If a method throws, the error is ignored, and the other layers are
 * still called. `State` is the layer's value for a span: `onNewSpan` returns it, and every later call for the span receives it.
 */
export interface TracingLayer<State = unknown> {
  onNewSpan?(span: SpanData, parent: State | undefined): State;
  /** @param fields Only the new fields; `span.fields` has them already. */
  onRecord?(span: SpanData, fields: Fields, state: State | undefined): void;
  /** @param state The state of the innermost span around the event. */
  onEvent?(event: LogEvent, state: State | undefined): void;
  onClose?(span: SpanData, outcome: SpanOutcome, state: State | undefined): void;
  /** True if the layer loses spans unless the application shuts down the object that owns it. Checked by `run()` in a debug build. */
  readonly needsShutdown?: boolean;
}

interface Entry {
  readonly layer: TracingLayer;
  readonly filter: TargetFilter | undefined;
}

/** The registry's value for a span: the state of each layer, in the order of the layers. */
type States = readonly unknown[];

export class Registry implements Subscriber {
  readonly #entries: readonly Entry[];
  readonly #filter: TargetFilter | undefined;
  // True if no layer has a filter, so that events need no check for each layer.
  readonly #isUnfiltered: boolean;

  constructor(entries: readonly Entry[] = [], filter?: TargetFilter) {
    this.#entries = entries;
    this.#filter = filter;
    this.#isUnfiltered = entries.every((entry) => entry.filter === undefined);
  }

  /** A registry with one more layer; `filter` applies only to the events of this layer. */
  with<State>(layer: TracingLayer<State>, filter?: TargetFilter): Registry {
    return new Registry([...this.#entries, { layer, filter }], this.#filter);
  }

  /** The same registry with a filter for all its layers. */
  filter(filter: TargetFilter): Registry {
    return new Registry(this.#entries, filter);
  }

  /** A registry with the layers of both registries, each layer with the filters that applied to it before. */
  and(other: Registry): Registry {
    return new Registry([...this.#filtered(), ...other.#filtered()]);
  }

  /** @internal */
  get layers(): readonly TracingLayer[] {
    return this.#entries.map(({ layer }) => layer);
  }

  maxLevel(target: string): LevelFilter {
    const wanted = this.#entries.map(({ layer, filter }) =>
      layer.onEvent === undefined ? "OFF" : (filter?.maxLevel(target) ?? "TRACE"),
    );
    const max = wanted.reduce<LevelFilter>((a, b) => (VERBOSITY[b] > VERBOSITY[a] ? b : a), "OFF");
    return getLower(max, this.#filter?.maxLevel(target) ?? "TRACE");
  }

  onNewSpan(span: SpanData): void {
    const parents = getStates(span.parent);
    const states: unknown[] = [];
    for (let i = 0; i < this.#entries.length; i++) states.push(this.#stateFor(i, span, parents?.[i]));
    span.subscriberState = states;
  }

  onRecord(span: SpanData, fields: Fields): void {
    const states = getStates(span);
    for (let i = 0; i < this.#entries.length; i++) sendRecord(this.#entries[i], span, fields, states?.[i]);
  }

  onEvent(event: LogEvent): void {
    const states = getStates(event.span);
    for (let i = 0; i < this.#entries.length; i++) {
      const entry = this.#entries[i];
      if (entry !== undefined && (this.#isUnfiltered || wants(entry, event)))
        sendEvent(entry.layer, event, states?.[i]);
    }
  }

  onClose(span: SpanData, outcome: SpanOutcome): void {
    const states = getStates(span);
    for (let i = 0; i < this.#entries.length; i++) sendClose(this.#entries[i], span, outcome, states?.[i]);
  }

  #filtered(): readonly Entry[] {
    return this.#entries.map(({ layer, filter }) => ({ layer, filter: narrowFilter(filter, this.#filter) }));
  }

  #stateFor(index: number, span: SpanData, parent: unknown): unknown {
    try {
      return this.#entries[index]?.layer.onNewSpan?.(span, parent);
    } catch {
      return undefined;
    }
  }
}

function sendEvent(layer: TracingLayer, event: LogEvent, state: unknown): void {
  try {
    layer.onEvent?.(event, state);
  } catch {
    // The other layers are still called.
  }
}

function sendRecord(entry: Entry | undefined, span: SpanData, fields: Fields, state: unknown): void {
  try {
    entry?.layer.onRecord?.(span, fields, state);
  } catch {
    // The other layers are still called.
  }
}

function sendClose(entry: Entry | undefined, span: SpanData, outcome: SpanOutcome, state: unknown): void {
  try {
    entry?.layer.onClose?.(span, outcome, state);
  } catch {
    // The other layers are still called.
  }
}

function wants({ filter }: Entry, event: LogEvent): boolean {
  return filter === undefined || VERBOSITY[event.level] <= VERBOSITY[filter.maxLevel(event.target)];
}

function narrowFilter(one: TargetFilter | undefined, other: TargetFilter | undefined): TargetFilter | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { maxLevel: (target) => getLower(one.maxLevel(target), other.maxLevel(target)) };
}

function getLower(one: LevelFilter, other: LevelFilter): LevelFilter {
  return VERBOSITY[one] < VERBOSITY[other] ? one : other;
}

// All spans of a flow have the same subscriber, so this registry has set the state of every span around an event.
function getStates(span: SpanData | undefined): States | undefined {
  return span?.subscriberState as States | undefined;
}
