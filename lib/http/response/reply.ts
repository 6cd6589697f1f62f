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
import { validateHeaderName, validateHeaderValue } from "node:http";
import type { Readable } from "node:stream";
import { EventBody, type EventSource } from "./event-stream.js";
import { toJsonText } from "./json-text.js";
import { HTML, JSON_TYPE, TEXT } from "./media-type.js";
import { PROBLEM_CONTENT_TYPE, type Problem } from "../../errors/problem.js";
import { checkFinalStatus } from "./head.js";

/** A body that can be sent. An object has become JSON text before it gets here. */
export type Payload = string | Uint8Array | Readable | AsyncIterable<unknown>;

export class Reply {
  private constructor(
    readonly statusCode: number,
    readonly type: string | undefined,
    readonly body: Payload | EventBody | undefined,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    checkFinalStatus(statusCode);
  }

  /** `application/json`; a value that cannot be serialised throws here, in the handler. */
  static json(value: unknown, status = 200): Reply {
    return new Reply(status, JSON_TYPE, value === undefined ? "null" : toJsonText(value));
  }

  static text(text: string, status = 200): Reply {
    return new Reply(status, TEXT, text);
  }

  static html(html: string, status = 200): Reply {
    return new Reply(status, HTML, html);
  }

  /** Text, bytes, a stream or an async iterable under a media type that you choose. */
  static of(body: Payload, type = "application/octet-stream", status = 200): Reply {
    validateHeaderValue("Content-Type", type);
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
  static events(source: EventSource): Reply {
    return new Reply(200, "text/event-stream", new EventBody(source), { "Cache-Control": "no-store" });
  }

  /** 201, with `Location` when one is given. */
  static created(location?: string, body?: unknown): Reply {
    const reply = body === undefined ? new Reply(201, undefined, undefined) : Reply.json(body, 201);
    return location === undefined ? reply : reply.header("Location", encodeLocation(location));
  }

  /** 204. */
  static noContent(): Reply {
    return new Reply(204, undefined, undefined);
  }

  /** An RFC 9457 problem, with the status of the problem. */
  static problem(problem: Problem): Reply {
    return new Reply(problem.status, PROBLEM_CONTENT_TYPE, problem.text());
  }

  /** A status and nothing else. */
  static empty(status: number): Reply {
    return new Reply(status, undefined, undefined);
  }

  status(code: number): Reply {
    return new Reply(code, this.type, this.body, this.headers);
  }

  header(name: string, value: string): Reply {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return new Reply(this.statusCode, this.type, this.body, { ...this.headers, [name]: value });
  }
}

/** Characters outside ASCII are percent-encoded, as in a redirect (RFC 9110 section 10.2.2 takes a URI reference). */
function encodeLocation(location: string): string {
  return location.replaceAll(/[\u0080-\uffff]+/g, (text) => encodeURI(Buffer.from(text).toString()));
}
