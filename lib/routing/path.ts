/**
 * A path template, parsed once: `/links/{id}`, `/files/{*rest}`. It knows its captures, fills them into a URL, says how specific it
 * is and translates itself for @koa/router. Matching requests is the business of `RouteIndex`.
 *
 * A template starts with `/`; it has no empty, `.` or `..` segment, no `?` and no `#`; a capture fills a whole segment, is named
 * `[A-Za-z_][A-Za-z0-9_]*` and is unique; a catch-all is the last segment. Letter case and slashes are significant.
 *
 * @example
 * Path.of("/links/{id}").fill(["a b"]); // "/links/a%20b"
 */
import { FrameworkError } from "../errors/framework-error.js";
import { readSegment, SEGMENT_KINDS, type PathSegment } from "./path-segment.js";
import { fillSegment, surplusParameter } from "./url-parameter.js";

/** Why a template is none. */
export class PathFault {
  constructor(
    readonly template: string,
    readonly reason: string,
  ) {}
}

const ROOT: PathSegment = { kind: "literal", text: "" };
const ROUTER_SPECIALS = /[{}()[\]+?!:*\\]/g;

export class Path {
  /** The names of the captures, in order. */
  readonly names: readonly string[];
  /** Equal for templates that match the same paths: the names of captures left out. */
  readonly shape: string;

  private constructor(
    readonly template: string,
    /** The root path has one empty literal. */
    readonly segments: readonly PathSegment[],
  ) {
    this.names = segments.filter(({ kind }) => kind !== "literal").map(({ text }) => text);
    this.shape = segments.map(shapeOf).join("");
  }

  /** The path, or what is wrong with the template. */
  static read(template: string): Path | PathFault {
    if (!template.startsWith("/")) return new PathFault(template, "it does not start with a slash");
    if (template === "/") return new Path(template, [ROOT]);
    const segments: PathSegment[] = [];
    for (const source of template.slice(1).split("/")) {
      const segment = source === "" ? "it has an empty segment" : readSegment(source);
      if (typeof segment === "string") return new PathFault(template, segment);
      segments.push(segment);
    }
    const reason = misplaced(segments);
    return reason === undefined ? new Path(template, segments) : new PathFault(template, reason);
  }

  /** The path; throws `E_ROUTE_PATH` for a template that is none. */
  static of(template: string): Path {
    const path = Path.read(template);
    if (path instanceof Path) return path;
    throw new FrameworkError(`the path "${template}" cannot be used: ${path.reason}`, { code: "E_ROUTE_PATH" });
  }

  /**
   * The URL with one value per capture, in order, percent-encoded; the values of a catch-all segment by segment.
   * Throws `E_ROUTE_PARAM`, naming the parameter, for one that is missing, empty, too many, `.` or `..`.
   */
  fill(values: readonly unknown[]): string {
    if (values.length > this.names.length) throw surplusParameter(this.template, this.names.length, values.length);
    let next = 0;
    let url = "";
    for (const segment of this.segments) {
      url += `/${segment.kind === "literal" ? segment.text : fillSegment(this.template, segment, values[next++])}`;
    }
    return url;
  }

  /** Below 0 where this path is the more specific one: literal before capture before catch-all, from the left. */
  compare(other: Path): number {
    for (const [at, segment] of this.segments.entries()) {
      const opposite = other.segments[at];
      if (opposite === undefined) return 1;
      const difference = SEGMENT_KINDS.indexOf(segment.kind) - SEGMENT_KINDS.indexOf(opposite.kind);
      if (difference !== 0) return difference;
    }
    return this.segments.length - other.segments.length;
  }

  /** In the words of @koa/router: `{id}` is `:id`, `{*rest}` is `*rest`, every character with a meaning there is escaped. */
  forKoaRouter(): string {
    return this.segments.map(forKoaRouter).join("");
  }
}

function shapeOf({ kind, text }: PathSegment): string {
  if (kind === "literal") return `/${text}`;
  return kind === "capture" ? "/{}" : "/{*}";
}

function forKoaRouter({ kind, text }: PathSegment): string {
  if (kind === "literal") return `/${text.replace(ROUTER_SPECIALS, String.raw`\$&`)}`;
  return kind === "capture" ? `/:${text}` : `/*${text}`;
}

function misplaced(segments: readonly PathSegment[]): string | undefined {
  const seen = new Set<string>();
  for (const [at, { kind, text }] of segments.entries()) {
    if (kind === "literal") continue;
    if (seen.has(text)) return `it captures "${text}" twice`;
    if (kind === "catch-all" && at < segments.length - 1) return `{*${text}} is not the last segment`;
    seen.add(text);
  }
  return undefined;
}
