/**
 * The contents of responses that are not JSON: how a plain value of a handler becomes a reply of its status and media type, whether a value
 * is of a content, the reply that a handler has written to the context, and the events and lines of a stream, one by one.
 */
import { Content, type ContentKind } from "../endpoints/content.js";
import type { ContentDeclaration } from "../endpoints/contract.js";
import { getMediaType } from "../http/body/body-reader.js";
import { EventBody, type EventIterable, type ServerSentEvent } from "../http/response/event-stream.js";
import { isAsyncIterable } from "../http/response/iterable-stream.js";
import { toJsonText } from "../http/response/json-text.js";
import { JSON_TYPE } from "../http/response/media-type.js";
import { type Payload, Reply } from "../http/response/reply.js";
import { findRefusal } from "../http/failures/refuse.js";
import type { Context } from "../http/request/context.js";
import { Deferred } from "../http/response/returned-value.js";
import { isPromise } from "../http/middleware.js";

export function isContent(declared: ContentDeclaration, ...kinds: readonly ContentKind[]): boolean {
  return declared instanceof Content && kinds.includes(declared.kind);
}

/** The reply for a plain value of the one status of success; the value itself where a reply cannot hold it, such as a `Blob`. */
export function toReply(
  { content, status }: { readonly content: ContentDeclaration; readonly status: number },
  value: unknown,
): unknown {
  if (!(content instanceof Content)) return Reply.json(value, status);
  const { kind, type } = content;
  if (kind === "none") return value === undefined || value === null ? Reply.empty(status) : value;
  if (kind === "text" && typeof value === "string") return Reply.of(value, withCharset(type), status);
  if (kind === "events" && isAsyncIterable(value)) return Reply.events(value as EventIterable).status(status);
  const isBytes = kind === "bytes" || kind === "file" || kind === "json-lines";
  return isBytes && (value instanceof Uint8Array || isAsyncIterable(value)) ? Reply.of(value, type, status) : value;
}

function withCharset(type = "text/plain"): string {
  return /^text\/[^;]*$/i.test(type) ? `${type}; charset=utf-8` : type;
}

export function hasContent({ kind, type }: Content, value: unknown): boolean {
  const payload = value instanceof Reply ? value.value : value;
  if (kind === "none") return payload === undefined || payload === null;
  // A long text, such as that of the metrics, is a stream.
  if (kind === "text") return (typeof payload === "string" || isAsyncIterable(payload)) && hasType(type, value);
  // The other kind leads to another site.
  if (kind === "redirect") return value instanceof Deferred && value.kind.startsWith(kind);
  // A page names its component.
  if (kind === "page")
    return value instanceof Deferred && type?.split(",").includes(String(Reflect.get(value, "component"))) === true;
  // A file that has not changed, or that HEAD asks for, has no bytes.
  if (kind === "file") return !(value instanceof Deferred) && payload !== null;
  return typeof payload === "object" && payload !== null && !(value instanceof Deferred) && hasType(type, value);
}

/** Whether a reply has the declared media type, which may be `image/*`. Other values get it. */
function hasType(declared = "", value: unknown): boolean {
  if (!(value instanceof Reply) || value.type === undefined || declared.includes("*")) return true;
  return getMediaType(value.type) === getMediaType(declared);
}

/** Whether a handler that returned this value leaves the response as it was written. */
export function isWritten(ctx: Context, value: unknown): value is null | undefined {
  return (value === undefined || value === null) && (ctx.hasResponse || ctx.isWrittenByHand);
}

/**
 * Returns what a handler has written to the context, as Koa has it, as the reply that it could have returned instead. What middleware
 * writes later is not seen. `undefined` for a response that has no value: one on Node's response, one that an outer stage completes, and a refusal.
 */
export function findWrittenReply(ctx: Context): Reply | undefined {
  if (ctx.headIsSent || ctx.isWrittenByHand || ctx.deferred !== undefined || findRefusal(ctx) !== undefined)
    return undefined;
  const { payload, inferredType, raw, givenStatus: status = 200 } = ctx;
  if (payload === undefined || payload === null) return Reply.empty(status);
  if (inferredType === JSON_TYPE && typeof payload !== "string") return Reply.json(payload, status);
  // Koa's body that is not JSON is text, bytes or a stream.
  return Reply.of(payload as Payload, String(raw.getHeader("Content-Type") ?? inferredType), status);
}

/** Returns the reply with its events or lines converted; `undefined` for a value that is no stream of them. */
export function convertStream(
  { kind }: Content,
  value: unknown,
  convert: (item: unknown) => unknown = (item) => item,
): unknown {
  if (!(value instanceof Reply)) return undefined;
  const { value: source }: { value: unknown } = value;
  if (kind === "json-lines")
    return isAsyncIterable(source)
      ? value.withValue(mapItems(source, (item) => replaceData(convert(item), formatLine)))
      : undefined;
  return source instanceof EventBody ? value.withValue(convertEvents(source, convert)) : undefined;
}

function formatLine(item: unknown): string {
  return `${toJsonText(item)}\n`;
}

function convertEvents({ source }: EventBody, convert: (data: unknown) => unknown): EventBody {
  const convertAll = (events: AsyncIterable<unknown>): EventIterable =>
    mapItems(events, (event) => convertEvent(event, convert));
  if (typeof source !== "function") return new EventBody(convertAll(source));
  return new EventBody((lastEventId) => {
    const events = source(lastEventId);
    return isAsyncIterable(events) ? convertAll(events) : events;
  });
}

/** Data is JSON under a contract, also a text: the client could not tell the text `7` from the number. */
function convertEvent(event: unknown, convert: (data: unknown) => unknown): unknown {
  if (typeof event === "string") return replaceData(convert(event), toJsonText);
  if (typeof event !== "object" || event === null) return event;
  const { data, event: name }: ServerSentEvent = event;
  // An event without name and data has the time until the browser connects again, or an id.
  if (data === undefined && name === undefined) return event;
  return replaceData(convert(data), (converted): ServerSentEvent => ({
    ...event,
    data: typeof converted === "string" ? toJsonText(converted) : converted,
  }));
}

function replaceData(converted: unknown, replace: (data: unknown) => unknown): unknown {
  return isPromise(converted) ? Promise.resolve(converted).then(replace) : replace(converted);
}

/** Not a generator: one that was not started would not close its source. */
function mapItems<T>(source: AsyncIterable<unknown>, convert: (item: unknown) => unknown): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => {
      const items = source[Symbol.asyncIterator]();
      return {
        next: async () => {
          const step = await items.next();
          // The caller names the type of the converted items.
          return step.done === true ? step : { done: false, value: (await convert(step.value)) as T };
        },
        return: async (value: unknown) => {
          await items.return?.();
          return { done: true, value };
        },
      };
    },
  };
}
