/**
 * The text exposition format, version 0.0.4: numbers, label values, help texts, the header of a metric, and the rules for metric names.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
import { toUSVString } from "node:util";
import { MetricsError } from "../errors.js";

export type MetricKind = "counter" | "gauge" | "histogram";

/** Counts, by metric, the values that were lost because of the limit on series. Only the registry writes it. */
export const OVERFLOW_METRIC = "framework_metrics_overflow_total";

const HISTOGRAM_SUFFIXES = ["_bucket", "_sum", "_count"];

type KnownMetrics = ReadonlyMap<string, { readonly kind: MetricKind }>;

/** Integers as digits, other numbers as the shortest decimal that reads back as the same number; `NaN`, `+Inf`, `-Inf`. */
export function formatNumber(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}

/** A label value between its quotation marks: backslash, double quote and newline are escaped. */
export function escapeLabelValue(value: string): string {
  return escapeHelp(value).replaceAll('"', '\\"');
}

/** A help text: backslash and newline are escaped, so that it stays on its line. */
function escapeHelp(help: string): string {
  // UTF-8 writes every lone surrogate as U+FFFD, which could make two series equal. So it is replaced here, before series are compared.
  return toUSVString(help).replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

/** `# HELP`, if there is a help text, and the `# TYPE` of the metric. */
export function formatMetricHeader(name: string, kind: MetricKind, help: string): string {
  const type = `# TYPE ${name} ${kind}\n`;
  return help === "" ? type : `# HELP ${name} ${escapeHelp(help)}\n${type}`;
}

/**
 * Checks the name of a new metric: the format's grammar, one kind for each name, and no conflict with the samples of a histogram.
 *
 * @throws MetricsError `E_METRIC_NAME` or `E_METRIC_KIND`
 */
export function checkMetricName(known: KnownMetrics, name: string, kind: MetricKind): void {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/u.test(name)) {
    throw new MetricsError("E_METRIC_NAME", name, "a name is letters, digits, _ and :, not starting with a digit");
  }
  if (name === OVERFLOW_METRIC) {
    throw new MetricsError("E_METRIC_NAME", name, "the registry itself writes this metric, choose another name");
  }
  checkKind(known, name, kind);
  const conflict = findConflict(known, name, kind);
  if (conflict !== undefined) {
    const rule = `a histogram writes samples of that name, and ${conflict} exists already: choose another name`;
    throw new MetricsError("E_METRIC_NAME", name, rule);
  }
}

function checkKind(known: KnownMetrics, name: string, kind: MetricKind): void {
  const first = known.get(name)?.kind;
  if (first === undefined || first === kind) return;
  const rule = `it is a ${first} already and cannot be a ${kind}, choose another name`;
  throw new MetricsError("E_METRIC_KIND", name, rule);
}

/** The existing metric that would have a sample of the same name. */
function findConflict(known: KnownMetrics, name: string, kind: MetricKind): string | undefined {
  for (const suffix of HISTOGRAM_SUFFIXES) {
    const base = name.endsWith(suffix) ? name.slice(0, -suffix.length) : "";
    if (known.get(base)?.kind === "histogram") return base;
    if (kind === "histogram" && known.has(name + suffix)) return name + suffix;
  }
  return undefined;
}
