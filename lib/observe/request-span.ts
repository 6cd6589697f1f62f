/** The span of a request: opened where a stage begins to watch it, ended when its answer is decided. */
import type { Context } from "../http/context.js";
import type { Flow } from "../tracing/flow.js";
import { closeSpan, openSpan, type Span } from "../tracing/span.js";
import type { Fields, RemoteParent } from "../tracing/tracing.js";
import { REQUEST } from "./span-names.js";

/** Opens a span `framework.request` in the request's flow, and has a body that is still to be streamed belong to it. */
export function openRequestSpan(
  ctx: Context,
  flow: Flow | undefined,
  target: string,
  fields: Fields,
  remoteParent?: RemoteParent,
): Span | undefined {
  ctx.flow = flow;
  return openSpan(target, REQUEST, fields, remoteParent, flow);
}

/** As failed where an exception passed by, or where the answer is a server error. */
export function endRequestSpan(
  span: Span | undefined,
  status: number,
  failure: { readonly error: unknown } | undefined,
): void {
  if (span === undefined) return;
  if (failure !== undefined) closeSpan(span, failure);
  else if (status >= 500) closeSpan(span, { error: `HTTP ${status}` });
  else closeSpan(span);
}
