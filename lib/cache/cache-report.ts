/**
 * The telemetry of a cache: each call as an operation (a span, a duration, a DEBUG event), and the results of its reads. None of these
 * holds a key or a value. A hit in memory is only counted, because a span would cost more than the hit.
 *
 * Before `prepare`, and for a cache without an application, it has no counts and no spans.
 *
 * @example
 * return this.report.run("set", () => this.write(name, value, ttlMs, options));
 */
import { Operations, type SubsystemHost } from "../lifecycle/operations.js";

/** Counter with the labels `subsystem` and `result`: `hit`, `stale`, `miss`, or `shared` for a caller that joined a computation. */
export const CACHE_READS = "framework_cache_reads_total";
/** Gauge with the label `subsystem`: the values of a cache in memory, expired ones included. */
export const CACHE_ENTRIES = "framework_cache_entries";
/** Gauge with the label `subsystem`: the bytes of these values and their keys. */
export const CACHE_BYTES = "framework_cache_size_bytes";

const OPERATIONS = ["get", "set", "delete", "invalidate", "remember", "compute", "script"] as const;
type CacheOperation = (typeof OPERATIONS)[number];

const RESULTS = ["hit", "stale", "miss", "shared"] as const;
type CacheResult = (typeof RESULTS)[number];

/** A series of a metric, for code that runs often. */
interface Count {
  value: number;
}

export class CacheReport {
  /** Counted by name, so that a hit in memory costs one addition. */
  reads: Readonly<Record<CacheResult, Count>> = createTable(RESULTS, () => ({ value: 0 }));
  private operations: Readonly<Record<CacheOperation, Operations>> | undefined = undefined;

  prepare(host: SubsystemHost): void {
    const { name: subsystem, metrics } = host;
    metrics.describeCounter(CACHE_READS, "Reads of caches by their result.");
    this.reads = createTable(RESULTS, (result) => metrics.counter(CACHE_READS, { subsystem, result }));
    this.operations = createTable(
      OPERATIONS,
      (name) => new Operations({ target: "framework::cache", span: `framework.cache.${name}` }, host),
    );
  }

  /** Runs `work` as an operation, and returns its result. */
  run<T>(operation: CacheOperation, work: () => T): T {
    return this.operations === undefined ? work() : this.operations[operation].run(operation, work);
  }
}

function createTable<N extends string, V>(names: readonly N[], createValue: (name: N) => V): Readonly<Record<N, V>> {
  // Each name of the list gets a value.
  return Object.fromEntries(names.map((name) => [name, createValue(name)])) as Record<N, V>;
}
