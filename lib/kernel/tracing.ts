/**
 * The facade that everything emits through; what becomes of an event is the subscriber's business (room `observe`).
 * Until a subscriber is installed, events go nowhere. This file is also the entry point `…/observe/tracing`.
 *
 * @example
 * const log = tracing.target("shop::links");
 * log.info("link created", { id });
 * await log.span("import", { file }).run(() => load(file));
 */
import { currentFlow, withSubscriber } from "./tracing-flow.js";
import type { SpanData, Subscriber } from "./tracing-port.js";
import { Registry } from "./tracing-registry.js";
import { Span } from "./tracing-span.js";
import { Target } from "./tracing-target.js";

export type {
  Fields,
  Level,
  LevelFilter,
  LogEvent,
  Outcome,
  RemoteParent,
  SpanData,
  Subscriber,
  TargetFilter,
} from "./tracing-port.js";
export type { TracingLayer } from "./tracing-registry.js";
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
