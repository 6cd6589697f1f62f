/**
 * Judges an answer that should be an RFC 9457 problem: its media type, its members, and that the document agrees with the head. What is
 * left out of `expected` is not looked at, but `status`, which must be said.
 *
 * @example
 * await expectProblem(await app.get("/links/7"), { status: 404, slug: "not-found", detail: /7/ });
 */
import { isDeepStrictEqual } from "node:util";
import { PROBLEM_CONTENT_TYPE } from "../errors/problem.js";
import { failure, shown } from "./failure.js";

export interface ExpectedProblem {
  readonly status: number;
  /** The last part of `type`; `"about:blank"` for the type of a status that has no slug. */
  readonly slug?: string;
  readonly title?: string;
  /** The whole text or what it matches; `null` for a document without one. */
  readonly detail?: string | RegExp | null;
  /** Extension members, each as it must be; others may be there too. */
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

const ORDER = ["type", "title", "status", "detail", "instance"];
const URN = "urn:framework:problem:";

/**
 * Resolves to the document; the body of `response` stays readable.
 *
 * @throws AssertionError naming what was seen.
 */
export async function expectProblem(response: Response, expected: ExpectedProblem): Promise<ProblemDocument> {
  const text = await response.clone().text();
  const seen = `${response.status} ${shown(response.headers.get("content-type"))} ${shown(text)}`;
  const check = (what: string, wanted: unknown, actual: unknown): void => {
    if (agrees(wanted, actual)) return;
    throw failure(`${what} is ${shown(actual)}, not ${shown(wanted)}; the answer was ${seen}`, {
      expected: wanted,
      actual,
    });
  };
  check("the status", expected.status, response.status);
  check("the media type", PROBLEM_CONTENT_TYPE, response.headers.get("content-type"));
  const document = parsed(text, seen);
  check("the member status", response.status, document.status);
  check("the member order", inOrder(Object.keys(document)), Object.keys(document));
  const { slug, title, detail, extensions = {} } = expected;
  if (slug !== undefined) check("the type", slug === "about:blank" ? slug : URN + slug, document.type);
  if (title !== undefined) check("the title", title, document.title);
  if (detail !== undefined) check("the detail", detail ?? undefined, document.detail);
  for (const [name, value] of Object.entries(extensions)) check(`the extension ${name}`, value, document[name]);
  return document;
}

function agrees(wanted: unknown, actual: unknown): boolean {
  return wanted instanceof RegExp
    ? typeof actual === "string" && wanted.test(actual)
    : isDeepStrictEqual(wanted, actual);
}

function parsed(text: string, seen: string): ProblemDocument {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw Object.assign(failure(`the body is not JSON; the answer was ${seen}`), { cause });
  }
  if (isProblem(document)) return document;
  throw failure(`the document lacks a type, a title or a status; the answer was ${seen}`);
}

function isProblem(document: unknown): document is ProblemDocument {
  if (typeof document !== "object" || document === null) return false;
  const { type, title, status } = document as Partial<ProblemDocument>;
  return typeof type === "string" && typeof title === "string" && title !== "" && typeof status === "number";
}

/** The members of RFC 9457 first, in the order of its text, then the extensions by name. */
function inOrder(names: readonly string[]): readonly string[] {
  const extensions = names.filter((name) => !ORDER.includes(name)).toSorted();
  return [...ORDER.filter((name) => names.includes(name)), ...extensions];
}
