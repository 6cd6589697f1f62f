/**
 * A path template, parsed once: `/links/{id}`, `/files/{*rest}`. It has names for its captures, creates URLs, compares itself with other
 * templates by specificity and translates itself for @koa/router. `Matcher` matches requests.
 *
 * A template starts with `/`. It has no empty, `.` or `..` segment, no `?` and no `#`. A capture fills a whole segment; its name is
 * `[A-Za-z_][A-Za-z0-9_]*` and unique. A catch-all is the last segment. Letter case and slashes are significant.
 *
 * @example
 * Path.of("/links/{id}").fill(["a b"]); // "/links/a%20b"
 */
import { valueText } from "../errors/value-text.js";
import { FrameworkError } from "../errors/framework-error.js";
import { createSetupError } from "../errors/setup-error.js";
import { CAPTURE, fillCapture } from "./filled-path.js";
import { toCanonicalSegment, decodeSource } from "./percent-encoding.js";

/** In order of specificity: the first is the most specific. */
export const SEGMENT_KINDS = ["literal", "capture", "catch-all"] as const;

/** One segment: a literal, a capture `{name}`, or at the end a catch-all `{*name}`. */
export interface PathSegment {
  readonly kind: (typeof SEGMENT_KINDS)[number];
  /** The canonical spelling of a literal, the name of a capture. */
  readonly text: string;
}

/** The reason why a text is not a template. */
export class PathFault {
  constructor(
    readonly template: string,
    readonly reason: string,
  ) {}
}

export class Path {
  /** The names of the captures, in order. */
  readonly names: readonly string[];
  /** Equal for templates that match the same paths: it does not contain the names of captures. */
  readonly shape: string;

  private constructor(
    readonly template: string,
    /** The root path has one empty literal. */
    readonly segments: readonly PathSegment[],
  ) {
    this.names = segments.filter(({ kind }) => kind !== "literal").map(({ text }) => text);
    this.shape = segments.map(formatShape).join("");
  }

  /** Returns the path, or the reason why the text is not a template. */
  static read(template: string): Path | PathFault {
    if (!template.startsWith("/")) return new PathFault(template, "it does not start with a slash");
    if (template === "/") return new Path(template, [ROOT]);
    const segments: PathSegment[] = [];
    for (const source of template.slice(1).split("/")) {
      const segment = source === "" ? "it has an empty segment" : readSegment(source);
      if (typeof segment === "string") return new PathFault(template, segment);
      segments.push(segment);
    }
    const reason = findMisplaced(segments);
    return reason === undefined ? new Path(template, segments) : new PathFault(template, reason);
  }

  /** Returns the path; throws `E_ROUTE_PATH` for a text that is not a template. */
  static of(template: string): Path {
    const path = Path.read(template);
    if (path instanceof Path) return path;
    throw new FrameworkError(`the path "${template}" cannot be used: ${path.reason}`, { code: "E_ROUTE_PATH" });
  }

  /**
   * Returns the URL with one value per capture, in order, percent-encoded; the value of a catch-all is encoded segment by segment. Throws
   * `E_ROUTE_PARAM`, naming the parameter, for a value that is missing, empty, surplus, `.` or `..`.
   */
  fill(values: readonly unknown[]): string {
    if (values.length > this.names.length) throw createSurplusError(this.template, this.names.length, values.length);
    let next = 0;
    let url = "";
    for (const { kind, text } of this.segments)
      url += `/${kind === "literal" ? text : this.fillCapture(kind === "capture", text, values[next++])}`;
    return url;
  }

  private fillCapture(isSegment: boolean, name: string, value: unknown): string {
    return fillCapture(isSegment, value, (reason) =>
      createParameterError(`the parameter "${name}" of "${this.template}" ${reason}`),
    );
  }

  /** Returns a number below 0 if this path is the more specific one: literal before capture before catch-all, from the left. */
  compare(other: Path): number {
    for (const [at, segment] of this.segments.entries()) {
      const opposite = other.segments[at];
      if (opposite === undefined) return 1;
      const difference = SEGMENT_KINDS.indexOf(segment.kind) - SEGMENT_KINDS.indexOf(opposite.kind);
      if (difference !== 0) return difference;
    }
    return this.segments.length - other.segments.length;
  }

  /** Returns the template for @koa/router: `{id}` is `:id`, `{*rest}` is `*rest`, and characters with a meaning there are escaped. */
  toKoaRouterPath(): string {
    return this.segments.map(toKoaRouterSegment).join("");
  }
}

const ROOT: PathSegment = { kind: "literal", text: "" };

/** Returns the segment, or the reason why the text is not a segment. */
function readSegment(source: string): PathSegment | string {
  const capture = CAPTURE.exec(source);
  if (capture) return { kind: capture[1] === "*" ? "catch-all" : "capture", text: capture[2] ?? "" };
  if (/[{}]/.test(source)) {
    return `"${source}" is neither a literal nor one capture such as {id} or {*rest}, which fill a whole segment`;
  }
  if (/[?#]/.test(source)) return `"${source}" contains a ? or a #: a path has no query and no fragment`;
  return readLiteral(source);
}

function readLiteral(source: string): PathSegment | string {
  const text = decodeSource(source);
  const canonical = text === undefined ? undefined : toCanonicalSegment(text);
  if (text === undefined || canonical === undefined) return `"${source}" is not percent-encoded UTF-8`;
  if (text === "") return "it has an empty segment";
  if (text === "." || text === "..") return `it has the segment "${source}", which clients resolve before they ask`;
  return { kind: "literal", text: canonical };
}

function findMisplaced(segments: readonly PathSegment[]): string | undefined {
  const seen = new Set<string>();
  for (const [at, { kind, text }] of segments.entries()) {
    if (kind === "literal") continue;
    if (seen.has(text)) return `it captures "${text}" twice`;
    if (kind === "catch-all" && at < segments.length - 1) return `{*${text}} is not the last segment`;
    seen.add(text);
  }
  return undefined;
}

function formatShape({ kind, text }: PathSegment): string {
  if (kind === "literal") return `/${text}`;
  return kind === "capture" ? "/{}" : "/{*}";
}

const KOA_ROUTER_SPECIALS = /[{}()[\]+?!:*\\]/g;

function toKoaRouterSegment({ kind, text }: PathSegment): string {
  if (kind === "literal") return `/${text.replace(KOA_ROUTER_SPECIALS, String.raw`\$&`)}`;
  return kind === "capture" ? `/:${text}` : `/*${text}`;
}

function createSurplusError(template: string, wanted: number, given: number): FrameworkError {
  const surplus = Array.from({ length: given - wanted }, (_, at) => `parameter ${wanted + at + 1}`).join(", ");
  return createParameterError(
    `"${template}" takes ${wanted} ${wanted === 1 ? "value" : "values"}: ${surplus} is surplus`,
  );
}

function createParameterError(detail: string): FrameworkError {
  return new FrameworkError(detail, { code: "E_ROUTE_PARAM" });
}

/** Returns the text of a path. Throws `E_ROUTE_PATH` for another value, which is often the `undefined` of files that import each other. */
export function requirePathText<P extends string>(given: P, where: string): P {
  if (typeof given === "string") return given;
  const message = `${where} was given ${valueText(given)} for a path: give a text`;
  throw createSetupError("E_ROUTE_PATH", message);
}

// The compiler reads the types below out of the literal of a path. A path of type `string` allows any name and any number of arguments.

/** The type of a parameter of a URL. */
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
