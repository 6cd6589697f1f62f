/**
 * A metric used against its rules: a name, label or value the exposition format cannot carry, or two kinds under one name.
 * Thrown at the call, because it is a mistake in the program and never one of a request.
 *
 * @example
 * metrics.increment("orders-total"); // MetricsError, code "E_METRIC_NAME"
 */
import { FrameworkError } from "../errors/framework-error.js";

/** Which rule was broken: the metric's name, a label, the metric's kind, or the value. */
export type MetricsErrorCode = "E_METRIC_NAME" | "E_METRIC_LABEL" | "E_METRIC_KIND" | "E_METRIC_VALUE";

export class MetricsError extends FrameworkError {
  /** Name of the metric. */
  readonly metric: string;
  /** Name of the label, where one is at fault. */
  readonly label: string | undefined;

  constructor(code: MetricsErrorCode, metric: string, rule: string, label?: string) {
    const place = label === undefined ? "" : `, label ${JSON.stringify(label)}`;
    super(`metric ${JSON.stringify(metric)}${place}: ${rule}`, { code });
    this.metric = metric;
    this.label = label;
  }
}
