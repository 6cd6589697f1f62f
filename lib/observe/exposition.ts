/**
 * The words of the text exposition format, version 0.0.4: numbers, label values, help, and the lines that open a metric.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
import { toUSVString } from "node:util";

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
export function openMetric(name: string, kind: MetricKind, help: string): string {
  const type = `# TYPE ${name} ${kind}\n`;
  return help === "" ? type : `# HELP ${name} ${escapeHelp(help)}\n${type}`;
}
