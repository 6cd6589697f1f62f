/**
 * Everything of a line after `fields`: level, message, spans, target, timestamp, in this order. Most of it was the same
 * in the line before, and is kept.
 */
import type { Level, LogEvent } from "../../tracing/subscriber.js";
import { momentOf, timestamp } from "../timestamp.js";
import { isPlainText, jsonText, oneText } from "./text.js";

const MAX_TARGETS = 256;

interface Heads {
  /** As the first and as a later member of the line, and the same as far as the text of the message. */
  readonly first: string;
  readonly next: string;
  readonly firstMessage: string;
  readonly nextMessage: string;
}

const HEADS: Readonly<Record<Level, Heads>> = {
  ERROR: heads("ERROR"),
  WARN: heads("WARN"),
  INFO: heads("INFO"),
  DEBUG: heads("DEBUG"),
  TRACE: heads("TRACE"),
};

/** The member `spans`. */
export interface Spans {
  readonly spans: string;
  readonly spansAfterString: string;
}

/** The target, and the timestamp but for its milliseconds. */
interface Tail {
  second: number;
  text: string;
}

export class LineEnd {
  readonly #tails = new Map<string, Tail>();

  /**
   * @param line The line so far, `""` where it has no fields.
   * @param spans The member for the spans; the second form is for after a string that is still open.
   */
  close(line: string, event: LogEvent, message: string | undefined, spans: Spans | undefined): string {
    const moment = momentOf(event.timestamp);
    const second = Math.floor(moment / 1000);
    const begun = addMessage(line, HEADS[event.level], message, spans);
    return begun + this.#tail(event.target, second) + milliseconds(moment - second * 1000);
  }

  #tail(target: string, second: number): string {
    const tail = this.#tails.get(target) ?? this.#newTail(target);
    if (tail.second !== second) {
      tail.second = second;
      tail.text = tailText(target, second);
    }
    return tail.text;
  }

  #newTail(target: string): Tail {
    if (this.#tails.size >= MAX_TARGETS) this.#tails.clear();
    const tail: Tail = { second: Number.NaN, text: "" };
    this.#tails.set(target, tail);
    return tail;
  }
}

function addMessage(line: string, head: Heads, message: string | undefined, spans: Spans | undefined): string {
  const first = line === "";
  if (message !== undefined && isPlainText(message)) {
    return line + (first ? head.firstMessage : head.nextMessage) + message + (spans?.spansAfterString ?? '"');
  }
  const text = message === undefined ? "" : `,"message":${jsonText(message)}`;
  return line + (first ? head.first : head.next) + text + (spans?.spans ?? "");
}

function tailText(target: string, second: number): string {
  return oneText(`,"target":${jsonText(target)},"timestamp":"${timestamp(second * 1000).slice(0, -"000Z".length)}`);
}

function milliseconds(rest: number): string {
  if (rest >= 100) return `${rest}Z"}`;
  return rest >= 10 ? `0${rest}Z"}` : `00${rest}Z"}`;
}

function heads(level: Level): Heads {
  const member = `"level":"${level}"`;
  return {
    first: `{${member}`,
    next: `,${member}`,
    firstMessage: `{${member},"message":"`,
    nextMessage: `,${member},"message":"`,
  };
}
