/**
 * The words of the text exposition format, version 0.0.4: numbers, label values, help, and the lines that open a metric.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
import { toUSVString } from "node:util";
import { MetricsError } from "../errors.js";

export type MetricKind = "counter" | "gauge" | "histogram";

/** Integral values as digits, all others as the shortest decimal that reads back the same; `NaN`, `+Inf`, `-Inf`. */
export function formatNumber(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}

/** A label value between its quotes: backslash, double quote and newline escaped. */
export function escapeLabelValue(value: string): string {
  return escapeHelp(value).replaceAll('"', '\\"');
}

/** A help text: backslash and newline escaped, so that it stays on its line. */
export function escapeHelp(help: string): string {
  // A lone surrogate becomes U+FFFD here and not on the wire, where two series could turn into one.
  return toUSVString(help).replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

/** `# HELP` where there is help, then the one `# TYPE` of the metric. */
export function metricHeader(name: string, kind: MetricKind, help: string): string {
  const type = `# TYPE ${name} ${kind}\n`;
  return help === "" ? type : `# HELP ${name} ${escapeHelp(help)}\n${type}`;
}

// What a metric may be called: the format's grammar, one kind a name, and nothing that a histogram's own samples are called.

/** Counts what the cap on series kept out, by metric. Only the registry itself writes it. */
export const OVERFLOW_METRIC = "framework_metrics_overflow_total";

const SAMPLES_OF_A_HISTOGRAM = ["_bucket", "_sum", "_count"];

/** @throws MetricsError `E_METRIC_NAME` or `E_METRIC_KIND` where `name` cannot become a metric of `kind` beside `known`. */
export function checkMetricName(
  known: ReadonlyMap<string, { readonly kind: MetricKind }>,
  name: string,
  kind: MetricKind,
): void {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/u.test(name)) {
    throw new MetricsError("E_METRIC_NAME", name, "a name is letters, digits, _ and :, not starting with a digit");
  }
  if (name === OVERFLOW_METRIC)
    throw new MetricsError("E_METRIC_NAME", name, "the registry keeps it itself, choose another");
  const first = known.get(name)?.kind;
  if (first !== undefined && first !== kind) {
    throw new MetricsError(
      "E_METRIC_KIND",
      name,
      `it is a ${first} already and cannot be a ${kind}, choose another name`,
    );
  }
  const rival = rivalOf(known, name, kind);
  if (rival !== undefined) {
    const rule = `a histogram writes samples of that name, and ${rival} is here already: choose another`;
    throw new MetricsError("E_METRIC_NAME", name, rule);
  }
}

function rivalOf(
  known: ReadonlyMap<string, { readonly kind: MetricKind }>,
  name: string,
  kind: MetricKind,
): string | undefined {
  for (const suffix of SAMPLES_OF_A_HISTOGRAM) {
    const base = name.endsWith(suffix) ? name.slice(0, -suffix.length) : "";
    if (known.get(base)?.kind === "histogram") return base;
    if (kind === "histogram" && known.has(name + suffix)) return name + suffix;
  }
  return undefined;
}
