/** What can go wrong when logging is set up; nothing of it happens while logging. */
import { FrameworkError } from "../errors/framework-error.js";

/** Codes: `E_LOGGING_INSTALLED`, `E_REDACT_NEEDLE`. */
export class ObserveError extends FrameworkError {}

// A metric used against its rules: a name, label or value the exposition format cannot carry, or two kinds under one name.
// Thrown at the call, because it is a mistake in the program and never one of a request.
//
// @example
// metrics.increment("orders-total"); // MetricsError, code "E_METRIC_NAME"

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

/** Why a text is no request id. Only `RequestId.parse` throws it; a header that is none is replaced without a word. */
export type RequestIdErrorReason = "empty" | "too-large" | "invalid-char";

const RULES: Readonly<Record<RequestIdErrorReason, string>> = {
  empty: "it is empty",
  "too-large": "it is too long",
  "invalid-char": "only ASCII letters and digits and - _ . : @ + / = are allowed",
};

export class RequestIdError extends FrameworkError {
  readonly reason: RequestIdErrorReason;
  /** Bytes of UTF-8, where `reason` is `"too-large"`. */
  readonly size: number | undefined;
  /** Bytes allowed, where `reason` is `"too-large"`. */
  readonly limit: number | undefined;

  constructor(reason: RequestIdErrorReason, measured?: { readonly size: number; readonly limit: number }) {
    const sizes = measured === undefined ? "" : `, ${measured.size} bytes where ${measured.limit} are allowed`;
    // The text itself is not repeated: it may come from anywhere and go to a log.
    super(`not a request id: ${RULES[reason]}${sizes}`, { code: "E_REQUEST_ID", status: 400 });
    this.reason = reason;
    this.size = measured?.size;
    this.limit = measured?.limit;
  }
}
