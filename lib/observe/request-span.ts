/** The span of a request: opened where a stage begins to watch it, ended when its answer is decided. */
import type { Context } from "../http/context.js";
import type { Flow } from "../tracing/flow.js";
import { closeSpan, openSpan, type Span } from "../tracing/span.js";
import type { Fields, RemoteParent } from "../tracing/tracing.js";

// The names of the framework's spans (specification, section 2.8). Stable: dashboards may rely on them. Only `REQUEST`
// is opened today; the others are reserved.

/** A request on its way through the stages; opened by the access log and by the trace context, so twice with both on. */
export const REQUEST = "framework.request";
export const DB_QUERY = "framework.db.query";
export const CACHE_GET = "framework.cache.get";
export const JOB_HANDLE = "framework.job.handle";
export const PAGE_RENDER = "framework.page.render";
export const EVENT_LISTENER = "framework.event.listener";
export const SCHEDULE_TICK = "framework.schedule.tick";

/** All of them, in the order of the specification. */
export const ALL: readonly string[] = Object.freeze([
  REQUEST,
  DB_QUERY,
  CACHE_GET,
  JOB_HANDLE,
  PAGE_RENDER,
  EVENT_LISTENER,
  SCHEDULE_TICK,
]);

/** Whether `name` is one of the framework's and will stay what it is. */
export function isStable(name: string): boolean {
  return ALL.includes(name);
}

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
