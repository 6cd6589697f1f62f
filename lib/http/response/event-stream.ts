/**
 * Server-sent events (WHATWG HTML section 9.2): the values of an async iterable as an event stream. For `Reply.events`.
 *
 * The stream ends in order when the drain starts, so that the drain does not wait for it: the browser connects again, to another instance.
 * It also ends when `ctx.signal` aborts. A comment every 15 seconds keeps proxies from closing a silent connection.
 */
import type { Readable } from "node:stream";
import type { Context } from "../request/context.js";
import { discardIterable, IterableStream, isAsyncIterable } from "./iterable-stream.js";
import { toJsonText } from "./json-text.js";
import { valueText } from "../../errors/value-text.js";
import { hasMethod } from "./web-values.js";
import type { Timer } from "../../runtime/clock.js";

/** One event. Give at least one member. @typeParam T the data */
export interface ServerSentEvent<T = unknown> {
  /** The name that listeners in the browser are added for; `message` if it is absent. */
  readonly event?: string;
  /** Text, or a value that becomes JSON. */
  readonly data?: T;
  /** The browser sends it as `Last-Event-ID` when it connects again. */
  readonly id?: string;
  /** Milliseconds until the browser connects again. */
  readonly retry?: number;
}

/** A text is the data of an event. */
export type EventIterable<E extends string | ServerSentEvent = string | ServerSentEvent> = AsyncIterable<E>;

/** The events, or a function that returns them for a client that has seen the events up to `lastEventId`. */
export type EventSource<E extends string | ServerSentEvent = string | ServerSentEvent> =
  EventIterable<E> | ((lastEventId: string | undefined) => EventIterable<E>);

const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ":\n\n";

/** The body of an event-stream reply before its request is known. */
export class EventBody {
  constructor(readonly source: EventSource) {
    if (typeof source !== "function" && !isAsyncIterable(source)) throw createSourceError("was given", source);
  }

  /** @internal */
  open(ctx: Context): Readable {
    const { source } = this;
    if (typeof source !== "function") return new EventStream(source, ctx);
    const events = source(readLastEventId(ctx));
    if (!isAsyncIterable(events)) throw createSourceError("got from its function", events);
    return new EventStream(events, ctx);
  }

  /** Closes a source that is not read. @internal */
  discard(): void {
    if (isAsyncIterable(this.source)) discardIterable(this.source);
  }
}

/** Plain JavaScript can give a list, or an `async` function without `*`. */
function createSourceError(how: string, value: unknown): TypeError {
  const kind = hasMethod(value, "then") ? "a promise" : valueText(value);
  return new TypeError(`Reply.events ${how} ${kind}: give an async iterable, or an async function* that makes one`);
}

/** Browsers send `Last-Event-ID` in UTF-8. Node reads header fields as Latin-1. */
function readLastEventId({ incoming }: Context): string | undefined {
  const field = incoming.headers["last-event-id"];
  return field === undefined ? undefined : Buffer.from(String(field), "latin1").toString();
}

class EventStream extends IterableStream {
  private timer: Timer | undefined = undefined;
  private readonly signal: AbortSignal;
  private readonly stop = (): void => this.finish();

  constructor(
    source: EventIterable,
    private readonly ctx: Context,
  ) {
    super(source);
    this.signal = ctx.abortSignal;
    this.signal.addEventListener("abort", this.stop);
    const { isDraining, drainListeners } = ctx.connection.registry;
    drainListeners.add(this.stop);
    if (this.signal.aborted || isDraining) this.stop();
    this.scheduleHeartbeat();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.timer?.cancel();
    this.signal.removeEventListener("abort", this.stop);
    this.ctx.connection.registry.drainListeners.delete(this.stop);
    super._destroy(error, done);
  }

  protected override encode(value: unknown): string {
    return formatEvent(value);
  }

  private scheduleHeartbeat(): void {
    this.timer = this.ctx.clock.setTimeout(
      () => {
        if (this.isEnded) return;
        // A client that does not read gets no more comments.
        if (this.readableLength === 0) this.push(HEARTBEAT);
        this.scheduleHeartbeat();
      },
      HEARTBEAT_MS,
      { background: true },
    );
  }
}

const MEMBERS: ReadonlySet<string> = new Set(["event", "data", "id", "retry"]);
const LINE_END = /\r\n|\r|\n/;

/**
 * Returns the text of one event.
 * @throws TypeError for a value that an event stream cannot express
 */
export function formatEvent(value: unknown): string {
  if (typeof value === "string") return `${formatDataLines(value)}\n`;
  if (typeof value !== "object" || value === null) throw new TypeError(`an event is a ${typeof value}; ${EXPECTED}`);
  for (const name in value) if (!MEMBERS.has(name)) throw new TypeError(`an event has a member "${name}"; ${EXPECTED}`);
  const { event, data, id, retry }: ServerSentEvent = value;
  const text =
    formatLine("event", event, /[\r\n]/) +
    formatLine("id", id, /[\0\r\n]/) +
    formatRetry(retry) +
    formatData(event, data);
  if (text === "") throw new TypeError(`an event has no member; ${EXPECTED}`);
  return `${text}\n`;
}

const EXPECTED = "give text, or an object with event, data, id or retry";

function formatLine(name: string, value: unknown, refused: RegExp): string {
  if (value === undefined) return "";
  if (typeof value !== "string" || refused.test(value))
    throw new TypeError(`the ${name} of an event is not a text of one line; give text without line breaks and NUL`);
  return `${name}: ${value}\n`;
}

function formatRetry(retry: unknown): string {
  if (retry === undefined) return "";
  if (!Number.isSafeInteger(retry) || Number(retry) < 0)
    throw new TypeError("the retry of an event is not a number of milliseconds; give an integer from 0");
  return `retry: ${Number(retry)}\n`;
}

/** An event that has only a name gets empty data, because a browser drops an event without data. */
function formatData(event: unknown, data: unknown): string {
  if (data === undefined) return event === undefined ? "" : formatDataLines("");
  return formatDataLines(typeof data === "string" ? data : toJsonText(data));
}

function formatDataLines(text: string): string {
  let lines = "";
  for (const each of text.split(LINE_END)) lines += `data: ${each}\n`;
  return lines;
}
