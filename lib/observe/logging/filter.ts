/**
 * Selects events by target and level, written as text: `info,shop=debug,shop::cart=off`. A filter is an immutable value; pass it to
 * `registry().filter(…)` or to one layer. Only `installLogging` reads the environment variable `RUST_LOG`.
 *
 * A class can inject `Filter`. It gets the filter that `installLogging` created, else a filter up to INFO. A filter that the application
 * provides applies to the application's log: the log of the `LogSink` that it provides, else its part of the installed log.
 *
 * Commas separate the directives: `target=level`, `level` (for all other targets) or `target` (all levels of this target). Levels are
 * `off error warn info debug trace`, in upper or lower case. A directive applies to its target and to all targets below it, which continue
 * with `::`. If several apply, the longest target wins. Without a directive `level`, all other targets are off.
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

// Words, `::`, and the other characters of module and package paths.
const TARGET = /^[\p{L}\p{N}_:./@$-]+$/u;

type Directive = readonly [target: string, level: LevelFilter];

export class Filter implements TargetFilter {
  // The longest target first, so that the first match wins.
  readonly #directives: readonly Directive[];

  /** @param directives The maximum level by target. The empty target stands for all others. */
  constructor(directives: ReadonlyMap<string, LevelFilter>) {
    this.#directives = [...directives].toSorted(([a], [b]) => b.length - a.length);
  }

  /** The filter that `text` describes; `undefined` if a part of it is not a valid directive. */
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

  /** The filter that selects all events up to `level`, from every target. */
  static upTo(level: LevelFilter): Filter {
    return new Filter(new Map([["", level]]));
  }

  maxLevel(target: string): LevelFilter {
    return this.#directives.find(([prefix]) => covers(prefix, target))?.[1] ?? "OFF";
  }
}

function parseDirective(part: string): Directive | undefined {
  const [left = "", right, ...more] = part.split("=").map((side) => side.trim());
  if (more.length > 0) return undefined;
  if (right !== undefined) return createDirective(left, parseLevel(right));
  const level = parseLevel(left);
  return level === undefined ? createDirective(left, "TRACE") : ["", level];
}

function createDirective(target: string, level: LevelFilter | undefined): Directive | undefined {
  return level !== undefined && TARGET.test(target) ? [target, level] : undefined;
}

function parseLevel(word: string): LevelFilter | undefined {
  return LEVELS.get(word.toLowerCase());
}

function covers(prefix: string, target: string): boolean {
  if (!target.startsWith(prefix)) return false;
  return prefix === "" || target.length === prefix.length || target.startsWith("::", prefix.length);
}
