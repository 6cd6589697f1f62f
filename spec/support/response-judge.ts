/** Judges responses by an OpenAPI document: whether it has the path, the method, the status, the headers and the media type, and by Ajv the JSON. */
import type { JsonObject, OpenApiDocument } from "@stagecraft/framework/openapi";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

export interface JudgedResponse {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** `undefined` where the body is not part of the judgement, as of a response to HEAD and of a stream. */
  readonly text: string | undefined;
}

/** Returns the fault of a response; `undefined` for one that is as the document says. */
export type ResponseJudge = (response: JudgedResponse) => string | undefined;

export function createResponseJudge(document: OpenApiDocument): ResponseJudge {
  // OpenAPI has keywords of its own.
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, "api");
  const check = (place: readonly string[], value: unknown): string | undefined =>
    ajv.validate({ $ref: `api#${place.map(toPointer).join("")}` }, value) ? undefined : ajv.errorsText();
  return ({ method, path, status, headers, text }) => {
    const found = findOperation(document, method, path);
    if (found === undefined) return `the document has no operation ${method} for the path ${path}`;
    const title = `${method} ${path} ${status}`;
    const responses = [...found.place, "responses"];
    const key = [String(status), "default"].find((each) => follow(document, [...responses, each]) !== undefined);
    if (key === undefined) return `${title} is not in the document`;
    const place = resolve(document, [...responses, key]);
    const fault =
      checkHeaders(document, { place, headers, check }) ?? checkBody(document, { place, headers, text, check });
    return fault === undefined ? undefined : `${title} ${fault}`;
  };
}

interface Judged {
  /** The members of the document that lead to the response. */
  readonly place: readonly string[];
  readonly headers: Headers;
  readonly check: (place: readonly string[], value: unknown) => string | undefined;
}

function checkHeaders(document: OpenApiDocument, { place, headers, check }: Judged): string | undefined {
  const declared = toObject(follow(document, [...place, "headers"]));
  for (const [name, header] of Object.entries(declared)) {
    const value = headers.get(name);
    const fault = value === null ? undefined : check([...place, "headers", name, "schema"], value);
    if (fault !== undefined) return `has a wrong header ${name}: ${fault}`;
    if (value === null && toObject(header)["required"] === true) return `has no header ${name}`;
  }
  return undefined;
}

function checkBody(
  document: OpenApiDocument,
  { place, headers, text, check }: Judged & Pick<JudgedResponse, "text">,
): string | undefined {
  if (text === undefined) return undefined;
  const types = Object.keys(toObject(follow(document, [...place, "content"])));
  if (text === "" && types.length === 0) return undefined;
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  const declared = types.find((each) => includesType(each, type));
  if (declared === undefined) return `is ${type || "without a body"}, and not ${types.join(" or ")}`;
  if (!/[/+]json$/.test(type)) return undefined;
  return text === "" ? "has no body" : check([...place, "content", declared, "schema"], JSON.parse(text));
}

/** Whether a media type of the document, which may be a range, includes that of a response. */
function includesType(declared: string, type: string): boolean {
  const [name = ""] = declared.split(";");
  return name === type || name === "*/*" || (name.endsWith("/*") && type.startsWith(name.slice(0, -1)));
}

export interface FoundOperation {
  /** The members of the document that lead to the operation. */
  readonly place: readonly string[];
  readonly id: string;
}

/** Finds the operation of a request. One of HEAD is that of GET. */
export function findOperation(document: OpenApiDocument, method: string, path: string): FoundOperation | undefined {
  const key = findPath(document, path);
  if (key === undefined) return undefined;
  const place = ["paths", key, method === "HEAD" ? "get" : method.toLowerCase()];
  const operation = follow(document, place);
  return operation === undefined ? undefined : { place, id: String(toObject(operation)["operationId"]) };
}

/** The template with the fewest captures that a path matches. */
function findPath({ paths }: OpenApiDocument, path: string): string | undefined {
  const matching = Object.keys(paths).filter((key) => {
    const parts = key.split("/");
    const given = path.split("/");
    return parts.length === given.length && parts.every((part, at) => part.startsWith("{") || part === given[at]);
  });
  return matching.toSorted((left, right) => left.split("{").length - right.split("{").length)[0];
}

/** The place of a value, or that of the component which it references. */
function resolve(document: object, place: readonly string[]): readonly string[] {
  const { $ref } = toObject(follow(document, place));
  return typeof $ref === "string" ? $ref.split("/").slice(1) : place;
}

function follow(document: object, place: readonly string[]): unknown {
  return place.reduce((value: unknown, name) => Reflect.get(Object(value), name), document);
}

function toObject(value: unknown): JsonObject {
  // An object of a document of JSON has members.
  return Object(value) as JsonObject;
}

function toPointer(name: string): string {
  return `/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))}`;
}
