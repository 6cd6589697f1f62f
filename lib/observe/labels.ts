/**
 * The labels of a sample, and the one text each set of them has: sorted by name, escaped, without braces.
 * Two sets are the same series exactly when their texts are equal, whatever order they were written in.
 *
 * @example
 * labelText({ status: 200, method: "GET" }); // 'method="GET",status="200"'
 */
import { toUSVString } from "node:util";
import { escapeLabelValue } from "./exposition.js";
import { MetricsError } from "./metrics-error.js";

/** Numbers and booleans stand for their text: `200` and `"200"` are the same value. */
export type LabelValue = string | number | boolean;

/** Names match `[a-zA-Z_][a-zA-Z0-9_]*`, do not start with `__`, and on a histogram are not `le`. */
export type Labels = Readonly<Record<string, LabelValue>>;

/** The text of a set of labels, which need not be a valid one. */
export function labelText(labels: Labels): string {
  const names = Object.keys(labels).toSorted();
  return names.map((name) => `${name}="${escapeLabelValue(String(labels[name]))}"`).join(",");
}

/** Whether the values are what their text says: lone surrogates, of which there is no end, all become the one U+FFFD. */
export function areWellFormed(labels: Labels): boolean {
  return Object.values(labels).every((value) => typeof value !== "string" || toUSVString(value) === value);
}

/** @throws MetricsError `E_METRIC_LABEL`, naming metric, label and rule. */
export function checkLabels(metric: string, labels: Labels, reserved: string | undefined): void {
  for (const [name, value] of Object.entries(labels)) {
    const rule = brokenRule(name, value, reserved);
    if (rule !== undefined) throw new MetricsError("E_METRIC_LABEL", metric, rule, name);
  }
}

function brokenRule(name: string, value: unknown, reserved: string | undefined): string | undefined {
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/u.test(name))
    return "a label name is letters, digits and _, not starting with a digit";
  if (name.startsWith("__")) return "label names starting with __ are Prometheus' own, choose another";
  if (name === reserved) return "le is what a histogram names its buckets by, choose another";
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return undefined;
  return `a label value is a string, a number or a boolean, not ${value === null ? "null" : typeof value}`;
}
