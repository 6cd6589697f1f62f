/**
 * Checks that a response is an RFC 9457 problem: its media type, its members, and that the member `status` equals the status line. Only
 * `status` is required in `expected`; an absent member is not compared.
 *
 * @example
 * await expectProblem(await app.get("/links/7"), { status: 404, slug: "not-found", detail: /7/ });
 */
import { isDeepStrictEqual } from "node:util";
import { PROBLEM_CONTENT_TYPE } from "../errors/problem.js";
import { createFailure, describeValue } from "./failure.js";

export interface ExpectedProblem {
  readonly status: number;
  /** The last part of `type`; `"about:blank"` for a problem without a specific type. */
  readonly slug?: string;
  readonly title?: string;
  /** The whole text, or a pattern that it matches; `null` for a document without `detail`. */
  readonly detail?: string | RegExp | null;
  /** Expected extension members. The document may have others. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly instance?: string;
  readonly [extension: string]: unknown;
}

const STANDARD_MEMBERS = ["type", "title", "status", "detail", "instance"];
const TYPE_PREFIX = "urn:framework:problem:";

/**
 * Resolves to the document. The body of `response` stays readable.
 *
 * @throws AssertionError naming the difference and the response
 */
export async function expectProblem(response: Response, expected: ExpectedProblem): Promise<ProblemDocument> {
  const text = await response.clone().text();
  const summary = `${response.status} ${describeValue(response.headers.get("content-type"))} ${describeValue(text)}`;
  const check = (what: string, wanted: unknown, actual: unknown): void => {
    if (isEqual(wanted, actual)) return;
    throw createFailure(
      `${what} is ${describeValue(actual)}, not ${describeValue(wanted)}; the response was ${summary}`,
      {
        expected: wanted,
        actual,
      },
    );
  };
  check("the status", expected.status, response.status);
  check("the media type", PROBLEM_CONTENT_TYPE, response.headers.get("content-type"));
  const document = parseDocument(text, summary);
  check("the member status", response.status, document.status);
  check("the member order", sortMembers(Object.keys(document)), Object.keys(document));
  const { slug, title, detail, extensions = {} } = expected;
  if (slug !== undefined) check("the type", slug === "about:blank" ? slug : TYPE_PREFIX + slug, document.type);
  if (title !== undefined) check("the title", title, document.title);
  if (detail !== undefined) check("the detail", detail ?? undefined, document.detail);
  for (const [name, value] of Object.entries(extensions)) check(`the extension ${name}`, value, document[name]);
  return document;
}

function isEqual(wanted: unknown, actual: unknown): boolean {
  return wanted instanceof RegExp
    ? typeof actual === "string" && wanted.test(actual)
    : isDeepStrictEqual(wanted, actual);
}

function parseDocument(text: string, summary: string): ProblemDocument {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw Object.assign(createFailure(`the body is not JSON; the response was ${summary}`), { cause });
  }
  if (isProblem(document)) return document;
  throw createFailure(`the document lacks a type, a title or a status; the response was ${summary}`);
}

function isProblem(document: unknown): document is ProblemDocument {
  if (typeof document !== "object" || document === null) return false;
  const { type, title, status } = document as Partial<ProblemDocument>;
  return typeof type === "string" && typeof title === "string" && title !== "" && typeof status === "number";
}

/** The standard members in the order of RFC 9457 section 3.1, then the extensions by name. */
function sortMembers(names: readonly string[]): readonly string[] {
  const extensions = names.filter((name) => !STANDARD_MEMBERS.includes(name)).toSorted();
  return [...STANDARD_MEMBERS.filter((name) => names.includes(name)), ...extensions];
}
