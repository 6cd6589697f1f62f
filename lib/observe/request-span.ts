/** How a request's span ends: failed where an exception passed by, or where the answer is a server error. */
import { closeSpan, type Span } from "../kernel/tracing-span.js";

export function endSpan(
  span: Span | undefined,
  status: number,
  failure: { readonly error: unknown } | undefined,
): void {
  if (span === undefined) return;
  if (failure !== undefined) closeSpan(span, failure);
  else if (status >= 500) closeSpan(span, { error: `HTTP ${status}` });
  else closeSpan(span);
}
