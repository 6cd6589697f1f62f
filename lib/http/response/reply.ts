/**
 * A response as a value: status, headers and body. A handler, a middleware or a stage returns it, and the framework applies it to the
 * context. Return one where a plain string or object does not say enough.
 *
 * A status other than 200 to 599, and a header or media type with a line break or with characters beyond Latin-1, cannot be sent. Such a
 * value is a programming error and throws a `TypeError` where the reply is created.
 *
 * @example
 * return Reply.created(links.show.url(link.id), link);
 * return Reply.html("<h1>Hello</h1>").status(202).header("Cache-Control", "no-store");
 */
import type { Readable } from "node:stream";
import { EventBody, type EventSource, type ServerSentEvent } from "./event-stream.js";
import { toJsonText } from "./json-text.js";
import { HTML, JSON_TYPE, TEXT } from "./media-type.js";
import { markKind } from "../../errors/copy-mark.js";
import { Problem, PROBLEM_CONTENT_TYPE } from "../../errors/problem.js";
import { nodeHttp } from "../../runtime/node-http.js";
import { checkFinalStatus } from "./head.js";

/** A body that can be sent. An object has become JSON text before it gets here. */
export type Payload = string | Uint8Array | Readable | AsyncIterable<unknown>;

/**
 * @typeParam S the status
 * @typeParam B the value that it carries: that of its JSON, a text, bytes
 */
export class Reply<S extends number = number, B = unknown> {
  static {
    markKind(this.prototype, "reply");
  }

  /** In types only: what `value` is. */
  declare readonly "~value": B;

  private constructor(
    readonly statusCode: S,
    readonly type: string | undefined,
    /** A value that becomes JSON, or else the body itself. */
    readonly value: unknown,
    readonly headers: Readonly<Record<string, string>> = {},
    /** @internal */
    readonly isJson = false,
  ) {
    checkFinalStatus(statusCode);
  }

  /** The body as it is sent. @throws TypeError for a value that cannot be serialised */
  get body(): Payload | EventBody | undefined {
    // The other constructors accept only values that can be sent.
    if (!this.isJson) return this.value as Payload | EventBody | undefined;
    return this.value instanceof Problem ? this.value.text() : toJsonText(this.value);
  }

  /** `application/json`. */
  static json<B, const S extends number = 200>(value: B, status?: S): Reply<S, B>;
  static json(value: unknown, status = 200): Reply {
    return new Reply(status, JSON_TYPE, value ?? null, {}, true);
  }

  static text<const S extends number = 200>(text: string, status?: S): Reply<S, string>;
  static text(text: string, status = 200): Reply {
    return new Reply(status, TEXT, text);
  }

  static html<const S extends number = 200>(html: string, status?: S): Reply<S, string>;
  static html(html: string, status = 200): Reply {
    return new Reply(status, HTML, html);
  }

  /** Text, bytes, a stream or an async iterable under a media type that you choose. */
  static of<B extends Payload, const S extends number = 200>(body: B, type?: string, status?: S): Reply<S, B>;
  static of(body: Payload, type = "application/octet-stream", status = 200): Reply {
    nodeHttp.validateHeaderValue("Content-Type", type);
    return new Reply(status, type, body);
  }

  /**
   * Server-sent events from an async iterable, or from a function that gets the client's `Last-Event-ID` and returns one:
   * `text/event-stream`, `Cache-Control: no-store`, a comment every 15 seconds. The stream ends in order when the drain starts.
   *
   * @throws TypeError for a value that is neither
   *
   * @example
   * return Reply.events((lastEventId) => this.orders.changesAfter(lastEventId));
   */
  static events<E extends string | ServerSentEvent>(source: EventSource<E>): Reply<200, AsyncIterable<E>> {
    return new Reply(200, "text/event-stream", new EventBody(source), { "Cache-Control": "no-store" });
  }

  /** 201, with `Location` when one is given. */
  static created(location?: string): Reply<201, undefined>;
  static created<B>(location: string | undefined, body: B): Reply<201, B>;
  static created(location?: string, body?: unknown): Reply<201> {
    const reply = body === undefined ? new Reply(201, undefined, undefined) : Reply.json(body, 201);
    return location === undefined ? reply : reply.header("Location", encodeLocation(location));
  }

  /** 204. */
  static noContent(): Reply<204, undefined> {
    return new Reply(204, undefined, undefined);
  }

  /** An RFC 9457 problem, with the status of the problem. */
  static problem(problem: Problem): Reply<number, Problem> {
    return new Reply(problem.status, PROBLEM_CONTENT_TYPE, problem, {}, true);
  }

  /** A status and nothing else. */
  static empty<const S extends number>(status: S): Reply<S, undefined> {
    return new Reply(status, undefined, undefined);
  }

  status<const C extends number>(code: C): Reply<C, B> {
    return new Reply(code, this.type, this.value, this.headers, this.isJson);
  }

  /** @internal */
  withValue(value: unknown): Reply<S> {
    return new Reply(this.statusCode, this.type, value, this.headers, this.isJson);
  }

  header(name: string, value: string): Reply<S, B> {
    nodeHttp.validateHeaderName(name);
    nodeHttp.validateHeaderValue(name, value);
    return new Reply(this.statusCode, this.type, this.value, { ...this.headers, [name]: value }, this.isJson);
  }
}

/** Characters outside ASCII are percent-encoded, as in a redirect (RFC 9110 section 10.2.2 takes a URI reference). */
function encodeLocation(location: string): string {
  return location.replaceAll(/[\u0080-\uffff]+/g, (text) => encodeURI(Buffer.from(text).toString()));
}
