/**
 * Which levels are wanted from which targets, as text: `info,shop=debug,shop::cart=off`. A value, parsed once; give it to
 * `registry().filter(…)` or to one layer. `installLogging` makes one from `RUST_LOG`, and nothing else reads that variable.
 *
 * Injectable: a class that asks for it gets what `installLogging` found, else everything up to INFO. An application that provides one has
 * its log filtered by it: that of the `LogSink` it provides, else the installed one's lines about itself.
 *
 * Directives are separated by commas: `target=level`, `level` (for every target not named) or `target` (everything from
 * it). Levels are `off error warn info debug trace`, in any case. The longest target wins that equals the event's or is
 * followed by `::` in it; without a bare level, targets that are not named are off.
 *
 * @example
 * Filter.parse("info,shop=debug")?.maxLevel("shop::links"); // "DEBUG"
 */
import type { LevelFilter, TargetFilter } from "../../tracing/subscriber.js";

/** The environment variable that holds the filter. */
export const FILTER_ENV = "RUST_LOG";

const LEVELS: ReadonlyMap<string, LevelFilter> = new Map([
  ["off", "OFF"],
  ["error", "ERROR"],
  ["warn", "WARN"],
  ["info", "INFO"],
  ["debug", "DEBUG"],
  ["trace", "TRACE"],
]);

// What targets are written with: words, `::`, and what module and package paths add to them.
const TARGET = /^[\p{L}\p{N}_:./@$-]+$/u;

type Directive = readonly [target: string, level: LevelFilter];

export class Filter implements TargetFilter {
  // Longest first, so that the first match is the one that counts.
  readonly #directives: readonly Directive[];

  /** @param directives the level that is wanted of each target, and by the empty name of all others */
  constructor(directives: ReadonlyMap<string, LevelFilter>) {
    this.#directives = [...directives].toSorted(([a], [b]) => b.length - a.length);
  }

  /** The filter that `text` describes; `undefined` where any part of it is not a directive. */
  static parse(text: string): Filter | undefined {
    const directives = new Map<string, LevelFilter>();
    for (const part of text.split(",")) {
      if (part.trim() === "") continue;
      const directive = parseDirective(part);
      if (directive === undefined) return undefined;
      directives.set(...directive);
    }
    return new Filter(directives);
  }

  /** The filter that wants everything up to `level`, whatever the target. */
  static upTo(level: LevelFilter): Filter {
    return new Filter(new Map([["", level]]));
  }

  maxLevel(target: string): LevelFilter {
    return this.#directives.find(([prefix]) => covers(prefix, target))?.[1] ?? "OFF";
  }
}

// A later directive for the same target replaces an earlier one; the bare level is the one for the empty target.
function parseDirective(part: string): Directive | undefined {
  const [left = "", right, ...more] = part.split("=").map((side) => side.trim());
  if (more.length > 0) return undefined;
  if (right !== undefined) return forTarget(left, levelOf(right));
  const bare = levelOf(left);
  return bare === undefined ? forTarget(left, "TRACE") : ["", bare];
}

function forTarget(target: string, level: LevelFilter | undefined): Directive | undefined {
  return level !== undefined && TARGET.test(target) ? [target, level] : undefined;
}

function levelOf(word: string): LevelFilter | undefined {
  return LEVELS.get(word.toLowerCase());
}

function covers(prefix: string, target: string): boolean {
  if (!target.startsWith(prefix)) return false;
  return prefix === "" || target.length === prefix.length || target.startsWith("::", prefix.length);
}
