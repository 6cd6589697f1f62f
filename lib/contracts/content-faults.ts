/**
 * The contents without sense in a contract: those that a response of their status, or a request of their method, cannot have, and file rules
 * with unknown options. `build()` refuses them, because a misspelt limit is none.
 */
import { Content, content, type FileRule } from "../endpoints/content.js";
import { isGetOrHead } from "../endpoints/method.js";
import type { OptionNames } from "../errors/option-names.js";
import type { UploadLimits } from "../http/body/uploads.js";
import { isSchema } from "../runtime/standard-schema.js";

export interface ContentFault {
  readonly what: string;
  readonly fix: string;
}

/** RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5. */
const EMPTY_STATUSES: ReadonlySet<string> = new Set(["204", "205", "304"]);

const REDIRECT_STATUSES: ReadonlySet<string> = new Set(["301", "302", "303", "307", "308"]);

export function findResponseFault(status: string, declared: unknown): ContentFault | undefined {
  const uncalled = findUncalled(declared);
  if (uncalled !== undefined) return uncalled;
  if (!/^[2-5]\d\d$/.test(status) || !(isSchema(declared) || declared instanceof Content))
    return {
      what: "it is no status with a content",
      fix: "give statuses from 200 to 599, each with a schema or a content",
    };
  const kind = declared instanceof Content ? declared.kind : "json";
  if (kind === "form" || kind === "multipart")
    return {
      what: `content.${kind} is a content of requests alone`,
      fix: "give a schema for JSON, or content.text, content.bytes or content.file",
    };
  if (EMPTY_STATUSES.has(status) && kind !== "none")
    return { what: "a response of this status has no body", fix: "give content.none(), or another status" };
  if (kind === "redirect" && !REDIRECT_STATUSES.has(status))
    return {
      what: "a redirect has another status",
      fix: `give one of ${[...REDIRECT_STATUSES].join(", ")}: redirect() has 302 for GET, and 303 for other methods`,
    };
  return undefined;
}

/** The entries of a record of contents. One schema in the place of the record has none, and is a fault. @param example how to write it */
export function listContents<T>(
  given: Readonly<Record<string, T>> | undefined,
  example: string,
  refuse: (what: string, fix: string) => void,
): readonly (readonly [name: string, content: T])[] {
  if (!isSchema(given) && !(given instanceof Content)) return Object.entries(given ?? {});
  refuse("it is one schema, where a record of schemas stands", `write ${example}`);
  return [];
}

export function hasNoContent(given: unknown): boolean {
  return given !== undefined && !isSchema(given) && Object.keys(Object(given)).length === 0;
}

export function findBodyFault(method: string, body: unknown): ContentFault | undefined {
  if (isGetOrHead(method))
    return { what: `a request of ${method} has no body`, fix: "use query, or another method, such as POST or QUERY" };
  if (isSchema(body)) return undefined;
  const contents: readonly (readonly [type: string | undefined, declared: unknown])[] =
    body instanceof Content ? [[body.type, body]] : Object.entries(Object(body));
  const fault = [body, ...contents.map(([, declared]) => declared)]
    .map((each) => findUncalled(each) ?? findFormFault(each))
    .find((each) => each !== undefined);
  if (fault !== undefined) return fault;
  if (contents.length === 0)
    return { what: "it has no content", fix: "give a schema or a content, or leave out the body" };
  return contents.map(([type = ""]) => findTypeFault(type)).find((each) => each !== undefined);
}

/** A request is compared with a media type in lower case, without parameters. */
function findTypeFault(type: string): ContentFault | undefined {
  const what = `${JSON.stringify(type)} is no media type of a request`;
  if (!type.includes("/"))
    return {
      what,
      fix: "write z.object({ … }) around members; the keys of several contents are such as application/json",
    };
  if (type.includes("*")) return { what, fix: 'name each media type: { "image/png": content.bytes("image/png"), … }' };
  const [plain = ""] = type.toLowerCase().split(";");
  return plain === type
    ? undefined
    : { what, fix: `write ${JSON.stringify(plain.trim())}; parameters and case are not compared` };
}

/** The fault of a function of `content` without parentheses. */
function findUncalled(declared: unknown): ContentFault | undefined {
  const found = Object.entries(content).find(([, create]) => create === declared);
  if (found === undefined) return undefined;
  const [name, { length }] = found;
  return { what: `content.${name} is a function`, fix: `call it: content.${name}(${length === 0 ? "" : "…"})` };
}

const RULE_OPTIONS: OptionNames<FileRule> = { types: true, bytes: true, optional: true, several: true };

const LIMITS: OptionNames<UploadLimits> = {
  bytes: true,
  fileBytes: true,
  fieldBytes: true,
  parts: true,
  timeoutMs: true,
  idleMs: true,
};

function findFormFault(declared: unknown): ContentFault | undefined {
  if (!(declared instanceof Content)) return undefined;
  const { files = {}, limits } = declared;
  for (const [name, rule] of Object.entries(files)) {
    const fault = findUnknown(rule, RULE_OPTIONS, `the rule of the file ${JSON.stringify(name)}`);
    if (fault !== undefined) return fault;
  }
  return findUnknown(limits, LIMITS, "content.multipart");
}

function findUnknown(given: unknown, names: object, title: string): ContentFault | undefined {
  const unknown = Object.keys(Object(given)).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return undefined;
  return {
    what: `${title} has the unknown option ${JSON.stringify(unknown)}`,
    fix: `the options are ${Object.keys(names).join(", ")}`,
  };
}
