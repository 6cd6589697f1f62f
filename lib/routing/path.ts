/**
 * A path template, parsed once: `/links/{id}`, `/files/{*rest}`. It knows its captures, fills them into a URL, says how specific it
 * is and translates itself for @koa/router. Matching requests is the business of `Matcher`.
 *
 * A template starts with `/`; it has no empty, `.` or `..` segment, no `?` and no `#`; a capture fills a whole segment, is named
 * `[A-Za-z_][A-Za-z0-9_]*` and is unique; a catch-all is the last segment. Letter case and slashes are significant.
 *
 * @example
 * Path.of("/links/{id}").fill(["a b"]); // "/links/a%20b"
 */
import { canonicalSegment, decodedSource } from "./percent-encoding.js";
import { FrameworkError } from "../errors/framework-error.js";
import { nameOf } from "../di/token.js";

// One segment of a path template: a literal, a capture `{name}`, or at the end a catch-all `{*name}`.
// Read by `Path`; nothing else needs it.

/** In order of specificity: the first is the most specific. */
export const SEGMENT_KINDS = ["literal", "capture", "catch-all"] as const;

export interface PathSegment {
  readonly kind: (typeof SEGMENT_KINDS)[number];
  /** The canonical spelling of a literal, the name of a capture. */
  readonly text: string;
}

const CAPTURE = /^\{(\*?)([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** The segment, or in a word what is wrong with it. */
export function readSegment(source: string): PathSegment | string {
  const capture = CAPTURE.exec(source);
  if (capture) return { kind: capture[1] === "*" ? "catch-all" : "capture", text: capture[2] ?? "" };
  if (/[{}]/.test(source)) {
    return `"${source}" is neither a literal nor one capture such as {id} or {*rest}, which fill a whole segment`;
  }
  if (/[?#]/.test(source)) return `"${source}" contains a ? or a #: a path has no query and no fragment`;
  return readLiteral(source);
}

function readLiteral(source: string): PathSegment | string {
  const text = decodedSource(source);
  const canonical = text === undefined ? undefined : canonicalSegment(text);
  if (text === undefined || canonical === undefined) return `"${source}" is not percent-encoded UTF-8`;
  if (text === "") return "it has an empty segment";
  if (text === "." || text === "..") return `it has the segment "${source}", which clients resolve before they ask`;
  return { kind: "literal", text: canonical };
}

// Values put into the captures of a path: what they may be, how they are encoded, and how a refusal names them.

/**
 * The value as it stands in a URL. A catch-all keeps its slashes, but for one at its start: a path that then began with `//` would be
 * another host to a browser.
 */
export function fillSegment(template: string, { kind, text: name }: PathSegment, value: unknown): string {
  const text = textOf(value);
  if (text === undefined) throw refused(template, name, value === undefined ? "is missing" : `is ${typeName(value)}`);
  if (text === "") throw refused(template, name, "is empty");
  if (kind === "capture") return encode(template, name, text);
  if (text.startsWith("/")) throw refused(template, name, "starts with a slash");
  return text
    .split("/")
    .map((part) => encode(template, name, part))
    .join("/");
}

export function surplusParameter(template: string, wanted: number, given: number): FrameworkError {
  const places = [];
  for (let at = wanted + 1; at <= given; at++) places.push(`parameter ${at}`);
  return fault(`"${template}" takes ${wanted} ${wanted === 1 ? "value" : "values"}: ${places.join(", ")} is surplus`);
}

function encode(template: string, name: string, text: string): string {
  if (text === "." || text === "..")
    throw refused(template, name, `is "${text}", which clients resolve before they ask`);
  try {
    return encodeURIComponent(text);
  } catch {
    throw refused(template, name, "contains half of a surrogate pair");
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  return undefined;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function refused(template: string, name: string, what: string): FrameworkError {
  return fault(`the parameter "${name}" of "${template}" ${what}`);
}

function fault(detail: string): FrameworkError {
  return new FrameworkError(detail, { code: "E_ROUTE_PARAM" });
}

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

// A path or prefix as it may come from JavaScript, refused where it is written: whether a text is a path is found by `build()`.

/** The text; throws `E_ROUTE_PATH` for anything else, which is often `undefined` out of files that import each other. */
export function pathText<P extends string>(given: P, where: string): P {
  if (typeof given === "string") return given;
  throw new FrameworkError(`${where} was given ${nameOf(given)} for a path: give a text`, { code: "E_ROUTE_PATH" });
}

// A prefix put before a path template, with exactly one slash between them.

/**
 * `/admin/` and `users` make `/admin/users`; an empty path and `/` stand for the prefix itself, an empty prefix and `/` for nothing.
 * Only one slash is taken from each side: a doubled one stays and is refused with the template.
 */
export function joinPaths(prefix: string, path: string): string {
  const start = prefix.endsWith("/") ? prefix.slice(0, -1) : prefix;
  const end = path.startsWith("/") ? path.slice(1) : path;
  if (end === "") return start === "" ? "/" : start;
  return `${start}/${end}`;
}

// What the compiler reads out of a path literal: the names of its captures, the arguments of its URL, and the path that a prefix
// makes of it. For a path that is only known as `string` everything is open: any name, any number of arguments.

/** What a parameter of a URL may be given as. */
export type PathParameter = string | number | bigint | boolean;

/** `"/teams/{team}/files/{*rest}"` → `"team" | "rest"` */
export type Names<P extends string> = string extends P ? string : NamesOf<P>;

type NamesOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `*${infer CatchAll}` ? CatchAll : Name) | NamesOf<Rest>
  : never;

/** One argument per capture, in the order of the path. */
export type UrlArguments<P extends string> = string extends P ? PathParameter[] : ArgumentsOf<P>;

type ArgumentsOf<P extends string> = P extends `${string}{${string}}${infer Rest}`
  ? [value: PathParameter, ...ArgumentsOf<Rest>]
  : [];

/** The type of `joinPaths(prefix, path)`. */
export type Join<Prefix extends string, P extends string> = string extends Prefix | P
  ? string
  : P extends "" | "/"
    ? Prefix extends "" | "/"
      ? "/"
      : WithoutSlashAtEnd<Prefix>
    : `${WithoutSlashAtEnd<Prefix>}/${WithoutSlashAtStart<P>}`;

type WithoutSlashAtEnd<P extends string> = P extends `${infer Start}/` ? Start : P;
type WithoutSlashAtStart<P extends string> = P extends `/${infer End}` ? End : P;
