/** The names of the framework's spans, and the span of a request: a stage opens it, and it ends when the response is decided. */
import type { Context } from "../http/request/context.js";
import type { Flow } from "../tracing/flow.js";
import { closeSpan, openSpan, type Span } from "../tracing/span.js";
import type { Fields, RemoteParent } from "../tracing/subscriber.js";

/** A request. The access log and the trace context each open such a span, so with both stages on there are two for each request. */
export const REQUEST = "framework.request";
// Some of the other names are reserved: the framework does not open these spans yet.
export const DB_QUERY = "framework.db.query";
export const CACHE_GET = "framework.cache.get";
export const JOB_HANDLE = "framework.job.handle";
export const PAGE_RENDER = "framework.page.render";
export const EVENT_LISTENER = "framework.event.listener";
export const SCHEDULE_TICK = "framework.schedule.tick";

/** All names of the framework's spans. They do not change, so dashboards may use them. */
export const ALL: readonly string[] = Object.freeze([
  REQUEST,
  DB_QUERY,
  CACHE_GET,
  JOB_HANDLE,
  PAGE_RENDER,
  EVENT_LISTENER,
  SCHEDULE_TICK,
]);

/** True if `name` is one of the names in `ALL`. */
export function isStable(name: string): boolean {
  return ALL.includes(name);
}

/** Opens a span `framework.request` in the request's flow. A body that is streamed later belongs to the span, too. */
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

/** Ends the span; as failed, if there was an exception or the response is a server error. */
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
