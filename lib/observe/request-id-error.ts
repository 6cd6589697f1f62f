/** Why a text is no request id. Only `RequestId.parse` throws it; a header that is none is replaced without a word. */
import { FrameworkError } from "../errors/framework-error.js";

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
