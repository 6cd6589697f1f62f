/** What a metric may be called: the format's grammar, one kind a name, and nothing that a histogram's own samples are called. */
import type { MetricKind } from "./exposition.js";
import { MetricsError } from "./metrics-error.js";

/** Counts what the cap on series kept out, by metric. Only the registry itself writes it. */
export const OVERFLOW = "framework_metrics_overflow_total";

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
  if (name === OVERFLOW) throw new MetricsError("E_METRIC_NAME", name, "the registry keeps it itself, choose another");
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
