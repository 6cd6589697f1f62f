/** Judges responses by an OpenAPI document: whether it has the path, the method, the status and the media type, and by Ajv the JSON. */
import type { OpenApiDocument } from "@stagecraft/framework/openapi";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

export interface JudgedResponse {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  /** `null` for a response without a body. */
  readonly contentType: string | null;
  readonly text: string;
}

/** Returns the fault of a response; `undefined` for one that is as the document says. */
export type ResponseJudge = (response: JudgedResponse) => string | undefined;

export function createResponseJudge(document: OpenApiDocument): ResponseJudge {
  // OpenAPI has keywords of its own.
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, "api");
  return ({ method, path, status, contentType, text }) => {
    const key = findPath(document, path);
    if (key === undefined) return `the document has no path for ${path}`;
    const place = ["paths", key, method.toLowerCase(), "responses", String(status)];
    const response = follow(document, place);
    if (response === undefined) return `${method} ${key} has no response ${status}`;
    const [type = ""] = (contentType ?? "").split(";");
    const contents = Object.keys(Object(Reflect.get(response, "content")));
    if (text === "") return contents.length === 0 ? undefined : `${method} ${key} ${status} has no body`;
    if (!contents.includes(type)) return `${method} ${key} ${status} is ${type}, and not ${contents.join(" or ")}`;
    if (!/[/+]json$/.test(type)) return undefined;
    const schema = { $ref: `api#${[...place, "content", type, "schema"].map(toPointer).join("")}` };
    // A response that the operation references has its content there.
    const $ref: unknown = Reflect.get(Object(follow(document, place, false)), "$ref");
    const shared = { $ref: `api${String($ref)}${["content", type, "schema"].map(toPointer).join("")}` };
    return ajv.validate(typeof $ref === "string" ? shared : schema, JSON.parse(text))
      ? undefined
      : `${method} ${key} ${status}: ${ajv.errorsText()}`;
  };
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

function follow(document: object, place: readonly string[], referenced = true): object | undefined {
  const found = place.reduce((value: unknown, name) => Reflect.get(Object(value), name), document);
  const $ref: unknown = Reflect.get(Object(found), "$ref");
  if (!referenced || typeof $ref !== "string") return found === undefined ? undefined : Object(found);
  return follow(document, $ref.split("/").slice(1));
}

function toPointer(name: string): string {
  return `/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))}`;
}
