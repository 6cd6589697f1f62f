/**
 * The telemetry of a subsystem's operations: a span, a duration by operation and outcome, and a DEBUG event. None of these has a bind, a
 * cached value, a payload or the content of a mail. Every subsystem of the framework runs its operations through an `Operations`.
 *
 * @example
 * override prepare(host: SubsystemHost) {
 *   this.operations = new Operations({ target: "framework::db", span: "framework.db.query" }, host);
 * }
 * find(id: number) { return this.operations.run("select", () => this.driver.query(SELECT, [id])); }
 */
import { FrameworkError } from "../errors/framework-error.js";
import type { Clock } from "../runtime/clock.js";
import { currentSubscriber } from "../tracing/flow.js";
import { Span } from "../tracing/span.js";
import type { Fields, RemoteParent } from "../tracing/subscriber.js";
import { currentWorkScope } from "./work-scope.js";
import { type Target, tracing } from "../tracing/tracing.js";

/** The part of `Metrics` that a subsystem needs. */
export interface SubsystemMetrics {
  describeHistogram(name: string, help: string): void;
  /** `workers` is the value over all workers of `runWorkers()`; their sum unless set. */
  describeGauge(name: string, help: string, options?: { readonly workers?: "sum" | "max" | "min" }): void;
  describeCounter(name: string, help: string): void;
  increment(name: string, labels: Readonly<Record<string, string>>, by?: number): void;
  set(name: string, labels: Readonly<Record<string, string>>, value: number): void;
  histogram(name: string, labels: Readonly<Record<string, string>>): { observe(value: number): void };
  /** The series of a counter, for code that counts often. */
  counter(name: string, labels: Readonly<Record<string, string>>): { value: number };
  /** The series of a gauge, for code that sets it often. */
  gauge(name: string, labels: Readonly<Record<string, string>>): { value: number };
}

/** The objects that the application passes to its subsystems. */
export interface SubsystemHost {
  /** The name in events, metrics and health checks: `database`, or `database:Ledger` where there are several. */
  readonly name: string;
  readonly clock: Clock;
  readonly metrics: SubsystemMetrics;
  /** All objects that the container has created, each once. Absent for a subsystem that is used without an application. */
  readonly instances?: (() => readonly unknown[]) | undefined;
}

export interface OperationNames {
  /** The target of the events, for example `framework::db`. */
  readonly target: string;
  /** The name of the spans, for example `framework.db.query`. */
  readonly span: string;
}

/** Histogram in seconds, with the labels `subsystem`, `operation` and `outcome`: `ok`, `error` or `aborted`. */
export const SUBSYSTEM_OPERATION_DURATION = "framework_subsystem_operation_duration_seconds";

type OperationOutcome = "ok" | "error" | "aborted";

interface OperationSeries {
  observe(value: number): void;
}

/**
 * Work that completes its result or its error within the operation, without a further promise. Times are monotonic milliseconds.
 * @internal
 */
export interface FollowedWork<T, R> {
  start(startedAt: number): T | Promise<T>;
  /** Returns the result of the operation. */
  ended(value: T, now: number): R;
  /** Returns the error of the operation. */
  failed(error: unknown, now: number): unknown;
}

/** Starts `work` and completes it. Returns a promise only if `start` does. */
function runFollowed<T, R>(work: FollowedWork<T, R>, startedAt: number, clock: Clock): R | Promise<R> {
  let result: T | Promise<T>;
  try {
    result = work.start(startedAt);
  } catch (error) {
    throw work.failed(error, clock.monotonic());
  }
  if (!(result instanceof Promise)) return work.ended(result, clock.monotonic());
  return result.then(
    (value) => work.ended(value, clock.monotonic()),
    (error: unknown) => {
      throw work.failed(error, clock.monotonic());
    },
  );
}

/** For work whose result or error is already that of the operation. @internal */
export function unchanged<T>(value: T): T {
  return value;
}

export class Operations {
  private readonly log: Target;
  /** By operation. */
  private readonly durations = new Map<string, Partial<Record<OperationOutcome, OperationSeries>>>();

  constructor(
    private readonly names: OperationNames,
    private readonly host: SubsystemHost,
  ) {
    this.log = tracing.target(names.target);
    host.metrics.describeHistogram(
      SUBSYSTEM_OPERATION_DURATION,
      "Duration of the operations of subsystems in seconds.",
    );
  }

  /**
   * Runs `work` inside a span and reports its end. `operation` is a label, so it must be a constant of the code, and never a key or a name
   * that a client chose. Returns the result of `work`; a promise settles as the promise of `work` does.
   *
   * @param remoteParent the span of another process that this work continues; only exporters read it
   */
  run<T>(operation: string, work: () => T, fields?: Fields, remoteParent?: RemoteParent): T {
    // The result of `follow` settles as `work` does.
    return this.follow(operation, { start: work, ended: unchanged, failed: unchanged }, fields, remoteParent) as T;
  }

  /** As `run`, for work that completes its result itself. @internal */
  follow<T, R>(
    operation: string,
    work: FollowedWork<T, R>,
    fields?: Fields,
    remoteParent?: RemoteParent,
  ): R | Promise<R> {
    // Without a subscriber a span has no effect.
    if (currentSubscriber() === undefined) return this.runReported(operation, work);
    const span = this.span(operation, fields, remoteParent);
    const start = (startedAt: number) => span.run(() => runFollowed(work, startedAt, this.host.clock));
    return this.runReported(operation, { start, ended: unchanged, failed: unchanged });
  }

  private span(operation: string, fields: Fields | undefined, remoteParent: RemoteParent | undefined): Span {
    const { target, span: name } = this.names;
    return new Span(target, name, { subsystem: this.host.name, operation, ...fields }, remoteParent);
  }

  /** As `runFollowed`, and reports the end. */
  private runReported<T, R>(operation: string, work: FollowedWork<T, R>): R | Promise<R> {
    const startedAt = this.host.clock.monotonic();
    let result: T | Promise<T>;
    try {
      result = work.start(startedAt);
    } catch (thrown) {
      throw this.failed(operation, work, startedAt, thrown);
    }
    if (!(result instanceof Promise)) return this.ended(operation, work, startedAt, result);
    return result.then(
      (value) => this.ended(operation, work, startedAt, value),
      (thrown: unknown) => {
        throw this.failed(operation, work, startedAt, thrown);
      },
    );
  }

  private ended<T, R>(operation: string, work: FollowedWork<T, R>, startedAt: number, value: T): R {
    const now = this.host.clock.monotonic();
    const result = work.ended(value, now);
    this.report(operation, now - startedAt, "ok");
    return result;
  }

  private failed<T, R>(operation: string, work: FollowedWork<T, R>, startedAt: number, thrown: unknown): unknown {
    const now = this.host.clock.monotonic();
    const error = work.failed(thrown, now);
    this.report(operation, now - startedAt, getOutcome(error), error);
    return error;
  }

  /** @param elapsed milliseconds */
  private report(operation: string, elapsed: number, outcome: OperationOutcome, error?: unknown): void {
    (this.durations.get(operation)?.[outcome] ?? this.addSeries(operation, outcome)).observe(elapsed / 1000);
    if (!this.log.enabled("debug")) return;
    const fields = { subsystem: this.host.name, operation, outcome, duration_ms: Math.trunc(elapsed) };
    const code = findCode(error);
    this.log.debug("operation ended", code === undefined ? fields : { ...fields, code });
  }

  private addSeries(operation: string, outcome: OperationOutcome): OperationSeries {
    const labels = { subsystem: this.host.name, operation, outcome };
    const series = this.host.metrics.histogram(SUBSYSTEM_OPERATION_DURATION, labels);
    this.durations.set(operation, { ...this.durations.get(operation), [outcome]: series });
    return series;
  }
}

function getOutcome(error: unknown): OperationOutcome {
  if (error instanceof Error && error.name === "AbortError") return "aborted";
  const signal = currentWorkScope()?.signal;
  return signal?.aborted === true && error === signal.reason ? "aborted" : "error";
}

/** Only the code: the message of a driver may quote a value. */
function findCode(error: unknown): string | undefined {
  if (error instanceof FrameworkError) return error.code;
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
