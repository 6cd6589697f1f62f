/**
 * The reports of a worker to its parent: changes of its registry with a number. The parent adds each report once, and sees where one is
 * missing. The parent checks a report before it adds any of it.
 */
import type { FamilyDelta, MetricsDelta } from "./delta.js";
import type { MetricKind } from "./exposition.js";
import type { GaugeRule } from "./family.js";

export interface MetricsReport {
  /** 1, 2, 3 … for each worker. */
  readonly sequence: number;
  /** True for the last report of a worker that ends. */
  readonly isLast: boolean;
  readonly delta: MetricsDelta;
}

const MAX_FAMILIES = 20_000;
const MAX_BOUNDS = 1000;
const KINDS: Readonly<Record<MetricKind, true>> = { counter: true, gauge: true, histogram: true };
const RULES: Readonly<Record<GaugeRule, true>> = { sum: true, max: true, min: true };

/** The report in a message, without its changes if these are broken; `undefined` for a message that is no report. */
export function readReport(
  message: unknown,
): (Omit<MetricsReport, "delta"> & { readonly delta: MetricsDelta | undefined }) | undefined {
  if (!isRecord(message)) return undefined;
  const { sequence, isLast, delta } = message;
  if (!isCount(sequence) || typeof isLast !== "boolean") return undefined;
  return { sequence, isLast, delta: isDelta(delta) ? delta : undefined };
}

function isDelta(value: unknown): value is MetricsDelta {
  if (!isRecord(value)) return false;
  const { bounds, families } = value;
  if (!(bounds instanceof Float64Array) || bounds.length > MAX_BOUNDS || !areBounds(bounds)) return false;
  if (!Array.isArray(families) || families.length > MAX_FAMILIES) return false;
  return families.every((family) => isFamilyDelta(family, bounds.length + 2));
}

function areBounds(bounds: Float64Array): boolean {
  return bounds.every((bound, at) => Number.isFinite(bound) && bound > (bounds[at - 1] ?? -Infinity));
}

/** @param histogramSize the number of values of a histogram's series */
function isFamilyDelta(value: unknown, histogramSize: number): value is FamilyDelta {
  if (!isRecord(value)) return false;
  const { name, kind, help, rule, labels, values } = value;
  if (typeof name !== "string" || typeof help !== "string" || !hasKey(KINDS, kind) || !hasKey(RULES, rule))
    return false;
  if (!Array.isArray(labels) || !labels.every((text) => typeof text === "string")) return false;
  const size = kind === "histogram" ? histogramSize : 1;
  if (!(values instanceof Float64Array) || values.length !== labels.length * size) return false;
  // Any number is a gauge or the sum of a histogram.
  return kind === "gauge" || values.every((each, at) => isCount(each) || (size > 1 && at % size === size - 1));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function hasKey<K extends string>(table: Readonly<Record<K, true>>, value: unknown): value is K {
  return typeof value === "string" && Object.hasOwn(table, value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
