/**
 * An RFC 9457 problem document, of media type `application/problem+json`: the members `type`, `title`, `status`, `detail` and `instance`,
 * then the extensions in the order of their names. It is created from an error or from a status.
 *
 * @example
 * return Reply.problem(Problem.of(409, "that slug is taken"));
 */
import { nodeHttp } from "../runtime/node-http.js";
import { FrameworkError } from "./framework-error.js";

export const PROBLEM_CONTENT_TYPE = "application/problem+json";

const MEMBERS: ReadonlySet<string> = new Set(["type", "title", "status", "detail", "instance"]);

const TITLE_OF_SLUG: ReadonlyMap<string, string> = new Map([
  ["bad-request", "Bad request"],
  ["malformed-json", "Malformed JSON request body"],
  ["authentication", "Authentication required"],
  ["authorization", "Access denied"],
  ["csrf", "CSRF check failed"],
  ["not-found", "Resource not found"],
  ["method-not-allowed", "Method not allowed"],
  ["timeout", "Request timed out"],
  ["conflict", "Request conflicts with current state"],
  ["payload-too-large", "Request body too large"],
  ["unsupported-media-type", "Unsupported media type"],
  ["validation", "Validation failed"],
  ["rate-limit", "Rate limit exceeded"],
  ["internal", "Internal server error"],
  ["unavailable", "Service unavailable"],
]);

const SLUG_OF_STATUS: ReadonlyMap<number, string> = new Map([
  [400, "bad-request"],
  [401, "authentication"],
  [403, "authorization"],
  [404, "not-found"],
  [405, "method-not-allowed"],
  [408, "timeout"],
  [409, "conflict"],
  [413, "payload-too-large"],
  [415, "unsupported-media-type"],
  [422, "validation"],
  [429, "rate-limit"],
  [500, "internal"],
  [503, "unavailable"],
]);

export interface ProblemOptions {
  readonly slug?: string | undefined;
  /** The text of the type in another language (RFC 9457 section 3.1.3). */
  readonly title?: string | undefined;
  readonly detail?: string | undefined;
  readonly instance?: string | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
}

export class Problem {
  readonly type: string;
  readonly title: string;
  private json: string | undefined = undefined;

  constructor(
    readonly status: number,
    private readonly options: ProblemOptions = {},
  ) {
    const { slug } = this;
    this.type = slug === undefined ? "about:blank" : `urn:framework:problem:${slug}`;
    const usual = slug === undefined ? undefined : TITLE_OF_SLUG.get(slug);
    this.title = options.title ?? usual ?? nodeHttp.STATUS_CODES[status] ?? "Unknown status";
  }

  static of(status: number, detail?: string): Problem {
    return new Problem(status, { detail });
  }

  /** The document of an error, without its detail if `withDetail` is false. Code and cause are never part of it. */
  static from(error: FrameworkError, withDetail = true): Problem {
    const { slug, extensions } = error;
    return new Problem(error.status, { slug, extensions, detail: withDetail ? error.detail : undefined });
  }

  get detail(): string | undefined {
    return this.options.detail;
  }

  /** The last part of the type; `undefined` for `about:blank`. @internal */
  get slug(): string | undefined {
    return this.options.slug ?? SLUG_OF_STATUS.get(this.status);
  }

  /** The extensions. @internal */
  get extensions(): Readonly<Record<string, unknown>> | undefined {
    return this.options.extensions;
  }

  /** The same problem with other texts. @internal */
  withTexts(texts: Pick<ProblemOptions, "title" | "detail" | "extensions">): Problem {
    return new Problem(this.status, { ...this.options, ...texts });
  }

  toJSON(): Record<string, unknown> {
    const { detail, instance, extensions = {} } = this.options;
    const document: Record<string, unknown> = { type: this.type, title: this.title, status: this.status };
    if (detail !== undefined && detail !== "") document["detail"] = detail;
    if (instance !== undefined) document["instance"] = instance;
    for (const name of Object.keys(extensions).toSorted()) {
      const value = extensions[name];
      if (!MEMBERS.has(name) && isSerialisable(value)) define(document, name, value);
    }
    return document;
  }

  /** The document as JSON. */
  text(): string {
    // The text is cached, because many refusals send the same document. Extensions are not copied, so their text can change.
    if (this.options.extensions !== undefined) return JSON.stringify(this);
    return (this.json ??= JSON.stringify(this));
  }
}

function isSerialisable(value: unknown): boolean {
  if (value === null) return false;
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

/** An assignment would drop a member named `__proto__`. */
function define(document: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(document, name, { value, enumerable: true, configurable: true, writable: true });
}
