/**
 * Writes the members of a line after `fields`: level, message, spans, target, timestamp, in this order. Most of this text repeats from
 * line to line, so it is remembered.
 */
import type { Level, LogEvent } from "../../tracing/subscriber.js";
import { flatten, toJsonString, needsNoEscape, formatTimestamp, floorMilliseconds } from "./json-text.js";

/** Targets whose text is remembered. */
const MAX_TARGETS = 256;

/** The member `level`, as the first and as a later member of the line. */
interface LevelMember {
  readonly first: string;
  readonly later: string;
  /** With the start of the member `message`, up to the opening quotation mark. */
  readonly firstAndMessage: string;
  readonly laterAndMessage: string;
}

const LEVELS: Readonly<Record<Level, LevelMember>> = {
  ERROR: createLevelMember("ERROR"),
  WARN: createLevelMember("WARN"),
  INFO: createLevelMember("INFO"),
  DEBUG: createLevelMember("DEBUG"),
  TRACE: createLevelMember("TRACE"),
};

/** The member `spans`. */
interface SpansMember {
  readonly spans: string;
  /** The same, after a string that still lacks its closing quotation mark. */
  readonly spansAfterString: string;
}

/** The member `target`, and `timestamp` without its milliseconds. */
interface TargetAndSecond {
  second: number;
  text: string;
}

export class LineEnd {
  private readonly targets = new Map<string, TargetAndSecond>();

  /** @param line The line so far; `""` if it has no fields. */
  append(line: string, event: LogEvent, message: string | undefined, spans: SpansMember | undefined): string {
    const time = floorMilliseconds(event.timestamp);
    const second = Math.floor(time / 1000);
    const beforeTarget = withMessage(line, LEVELS[event.level], message, spans);
    return beforeTarget + this.targetAndSecond(event.target, second) + formatMilliseconds(time - second * 1000);
  }

  private targetAndSecond(target: string, second: number): string {
    const remembered = this.targets.get(target) ?? this.addTarget(target);
    if (remembered.second !== second) {
      remembered.second = second;
      remembered.text = formatTargetAndSecond(target, second);
    }
    return remembered.text;
  }

  private addTarget(target: string): TargetAndSecond {
    if (this.targets.size >= MAX_TARGETS) this.targets.clear();
    const added: TargetAndSecond = { second: Number.NaN, text: "" };
    this.targets.set(target, added);
    return added;
  }
}

function withMessage(
  line: string,
  level: LevelMember,
  message: string | undefined,
  spans: SpansMember | undefined,
): string {
  const isFirst = line === "";
  if (message !== undefined && needsNoEscape(message)) {
    return (
      line + (isFirst ? level.firstAndMessage : level.laterAndMessage) + message + (spans?.spansAfterString ?? '"')
    );
  }
  const text = message === undefined ? "" : `,"message":${toJsonString(message)}`;
  return line + (isFirst ? level.first : level.later) + text + (spans?.spans ?? "");
}

function formatTargetAndSecond(target: string, second: number): string {
  return flatten(
    `,"target":${toJsonString(target)},"timestamp":"${formatTimestamp(second * 1000).slice(0, -"000Z".length)}`,
  );
}

function formatMilliseconds(rest: number): string {
  if (rest >= 100) return `${rest}Z"}`;
  return rest >= 10 ? `0${rest}Z"}` : `00${rest}Z"}`;
}

function createLevelMember(level: Level): LevelMember {
  const member = `"level":"${level}"`;
  return {
    first: `{${member}`,
    later: `,${member}`,
    firstAndMessage: `{${member},"message":"`,
    laterAndMessage: `,${member},"message":"`,
  };
}
