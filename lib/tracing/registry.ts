/**
 * Puts layers together into one subscriber. A layer sees every span, and the events its filter and the registry's let
 * through; each keeps a value of its own per span, so that layers need not know of each other.
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
 * One collector. All methods are optional and synchronous; what they throw is swallowed, and the other layers still get
 * their turn. `State` is what the layer keeps for a span: made by `onNewSpan`, handed to every later call about it.
 */
export interface TracingLayer<State = unknown> {
  onNewSpan?(span: SpanData, parent: State | undefined): State;
  /** `fields` are the new ones only; `span.fields` already holds them. */
  onRecord?(span: SpanData, fields: Fields, state: State | undefined): void;
  /** `state` is that of the innermost span the event happened in. */
  onEvent?(event: LogEvent, state: State | undefined): void;
  onClose?(span: SpanData, outcome: SpanOutcome, state: State | undefined): void;
}

interface Entry {
  readonly layer: TracingLayer;
  readonly filter: TargetFilter | undefined;
}

/** What a registry keeps for a span: the value of each layer, in the order of the layers. */
type States = readonly unknown[];

export class Registry implements Subscriber {
  readonly #entries: readonly Entry[];
  readonly #filter: TargetFilter | undefined;
  // Without any filter of a layer's own, a look at each would be a look for nothing.
  readonly #plain: boolean;

  constructor(entries: readonly Entry[] = [], filter?: TargetFilter) {
    this.#entries = entries;
    this.#filter = filter;
    this.#plain = entries.every((entry) => entry.filter === undefined);
  }

  /** A registry with one layer more; `filter` is for the events of this layer alone. */
  with<State>(layer: TracingLayer<State>, filter?: TargetFilter): Registry {
    return new Registry([...this.#entries, { layer, filter }], this.#filter);
  }

  /** A registry whose filter decides for all its layers. */
  filter(filter: TargetFilter): Registry {
    return new Registry(this.#entries, filter);
  }

  /** A registry with the layers of both, each under the filters it has been under. */
  and(other: Registry): Registry {
    return new Registry([...this.#filtered(), ...other.#filtered()]);
  }

  maxLevel(target: string): LevelFilter {
    const wanted = this.#entries.map(({ layer, filter }) =>
      layer.onEvent === undefined ? "OFF" : (filter?.maxLevel(target) ?? "TRACE"),
    );
    const most = wanted.reduce<LevelFilter>((a, b) => (VERBOSITY[b] > VERBOSITY[a] ? b : a), "OFF");
    return lower(most, this.#filter?.maxLevel(target) ?? "TRACE");
  }

  onNewSpan(span: SpanData): void {
    const parents = statesOf(span.parent);
    const states: unknown[] = [];
    for (let i = 0; i < this.#entries.length; i++) states.push(this.#stateFor(i, span, parents?.[i]));
    span.subscriberState = states;
  }

  onRecord(span: SpanData, fields: Fields): void {
    const states = statesOf(span);
    for (let i = 0; i < this.#entries.length; i++) recordIn(this.#entries[i], span, fields, states?.[i]);
  }

  onEvent(event: LogEvent): void {
    const states = statesOf(event.span);
    for (let i = 0; i < this.#entries.length; i++) {
      const entry = this.#entries[i];
      if (entry !== undefined && (this.#plain || wants(entry, event))) tell(entry.layer, event, states?.[i]);
    }
  }

  onClose(span: SpanData, outcome: SpanOutcome): void {
    const states = statesOf(span);
    for (let i = 0; i < this.#entries.length; i++) closeIn(this.#entries[i], span, outcome, states?.[i]);
  }

  #filtered(): readonly Entry[] {
    return this.#entries.map(({ layer, filter }) => ({ layer, filter: narrower(filter, this.#filter) }));
  }

  #stateFor(index: number, span: SpanData, parent: unknown): unknown {
    try {
      return this.#entries[index]?.layer.onNewSpan?.(span, parent);
    } catch {
      return undefined;
    }
  }
}

function tell(layer: TracingLayer, event: LogEvent, state: unknown): void {
  try {
    layer.onEvent?.(event, state);
  } catch {
    // The other layers still get their turn.
  }
}

function recordIn(entry: Entry | undefined, span: SpanData, fields: Fields, state: unknown): void {
  try {
    entry?.layer.onRecord?.(span, fields, state);
  } catch {
    // The other layers still get their turn.
  }
}

function closeIn(entry: Entry | undefined, span: SpanData, outcome: SpanOutcome, state: unknown): void {
  try {
    entry?.layer.onClose?.(span, outcome, state);
  } catch {
    // The other layers still get their turn.
  }
}

function wants({ filter }: Entry, event: LogEvent): boolean {
  return filter === undefined || VERBOSITY[event.level] <= VERBOSITY[filter.maxLevel(event.target)];
}

function narrower(one: TargetFilter | undefined, other: TargetFilter | undefined): TargetFilter | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { maxLevel: (target) => lower(one.maxLevel(target), other.maxLevel(target)) };
}

function lower(one: LevelFilter, other: LevelFilter): LevelFilter {
  return VERBOSITY[one] < VERBOSITY[other] ? one : other;
}

// A flow never mixes subscribers, so the slot of every span an event can be in was filled by this registry.
function statesOf(span: SpanData | undefined): States | undefined {
  return span?.subscriberState as States | undefined;
}
