/** The errors of logging, metrics and request ids. Applications catch them; only this room throws them. */
import { FrameworkError } from "../errors/framework-error.js";

/** Thrown while logging is set up, never while it is used. Codes: `E_LOGGING_INSTALLED`, `E_REDACT_NEEDLE`. */
export class ObserveError extends FrameworkError {}

/** The broken rule: of the metric's name, a label, the metric's kind, or the value. */
export type MetricsErrorCode = "E_METRIC_NAME" | "E_METRIC_LABEL" | "E_METRIC_KIND" | "E_METRIC_VALUE";

/**
 * A call that breaks a rule for metrics: a name, label or value that the exposition format cannot hold, or two kinds of metric under one
 * name. It is a mistake in the program and does not depend on requests, so it is thrown by the call itself.
 *
 * @example
 * metrics.increment("orders-total"); // MetricsError, code "E_METRIC_NAME"
 */
export class MetricsError extends FrameworkError {
  /** Name of the metric. */
  readonly metric: string;
  /** Name of the label, if a label breaks the rule. */
  readonly label: string | undefined;

  constructor(code: MetricsErrorCode, metric: string, rule: string, label?: string) {
    const suffix = label === undefined ? "" : `, label ${JSON.stringify(label)}`;
    super(`metric ${JSON.stringify(metric)}${suffix}: ${rule}`, { code });
    this.metric = metric;
    this.label = label;
  }
}

/** The reason why a text is not a valid request id. */
export type RequestIdErrorReason = "empty" | "too-large" | "invalid-char";

const RULES: Readonly<Record<RequestIdErrorReason, string>> = {
  empty: "it is empty",
  "too-large": "it is too long",
  "invalid-char": "only ASCII letters and digits and - _ . : @ + / = are allowed",
};

/** Only `RequestId.parse` throws it. An invalid request header is replaced by a fresh id without an error. */
export class RequestIdError extends FrameworkError {
  readonly reason: RequestIdErrorReason;
  /** Bytes of UTF-8, if `reason` is `"too-large"`. */
  readonly size: number | undefined;
  /** Allowed bytes, if `reason` is `"too-large"`. */
  readonly limit: number | undefined;

  constructor(reason: RequestIdErrorReason, measured?: { readonly size: number; readonly limit: number }) {
    const sizes = measured === undefined ? "" : `, ${measured.size} bytes where ${measured.limit} are allowed`;
    // The message does not repeat the text: the text may come from a client, and the message may go to a log.
    super(`not a request id: ${RULES[reason]}${sizes}`, { code: "E_REQUEST_ID", status: 400 });
    this.reason = reason;
    this.size = measured?.size;
    this.limit = measured?.limit;
  }
}
