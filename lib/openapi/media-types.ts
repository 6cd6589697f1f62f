/** The contents of requests and responses by their media type (OpenAPI 3.1 section 4.8.14). */
import { Content, type FileRule, type FileRules } from "../endpoints/content.js";
import type { ContentDeclaration, Contract } from "../endpoints/contract.js";
import { maySkip } from "../contracts/left-out.js";
import { isSchema, type Schema } from "../runtime/standard-schema.js";
import type { ComponentSchemas, SchemaPlace } from "./component-schemas.js";
import { isObject, type JsonObject } from "./document.js";
import { listMembers } from "./parameters.js";

export const JSON_TYPE = "application/json";

/** A file and raw bytes. `format` is of OpenAPI 3.0, and generators of clients read it. */
function describeBinary(type: string): JsonObject {
  return { type: "string", format: "binary", contentMediaType: type };
}

export interface ContentContext {
  readonly components: ComponentSchemas;
  readonly place: SchemaPlace;
  readonly version: "3.1" | "3.2";
}

/** The members of `content` for one declared content; none for a content without a body. */
export function describeContent(declared: ContentDeclaration, context: ContentContext, type?: string): JsonObject {
  const { components, place } = context;
  if (!(declared instanceof Content)) return { [type ?? JSON_TYPE]: { schema: components.read(declared, place) } };
  const { kind, schema } = declared;
  const mediaType = type ?? declared.type ?? "application/octet-stream";
  if (kind === "text") return { [mediaType]: { schema: { type: "string" } } };
  if (kind === "bytes" || kind === "file") return { [mediaType]: { schema: describeBinary(mediaType) } };
  if (kind === "page") return describePage(components);
  if (schema === undefined) return {};
  const described = components.read(schema, place);
  if (kind === "form") return { [mediaType]: withEncoding(described, components) };
  if (kind === "multipart") return { [mediaType]: describeMultipart(described, declared.files ?? {}, components) };
  if (kind === "events") return { [mediaType]: describeStream(describeEvent(described), context) };
  return { [mediaType]: describeStream(described, context) };
}

/** A page is a document, and to a visit of the front end its data (the protocol of Inertia). */
export function describePage(components: ComponentSchemas): JsonObject {
  const place = { id: "InertiaPage", part: "a page", route: "the framework" };
  return {
    "text/html": { schema: { type: "string" } },
    [JSON_TYPE]: { schema: components.add(place.id, INERTIA_PAGE, place) },
  };
}

const INERTIA_PAGE = {
  type: "object",
  description: "A page for the front end, which sends `X-Inertia: true`.",
  properties: {
    component: { type: "string" },
    props: { type: "object" },
    url: { type: "string", format: "uri-reference" },
    version: { type: ["string", "null"] },
  },
  required: ["component", "props", "url", "version"],
};

export function describeBody(body: NonNullable<Contract["body"]>, context: ContentContext): JsonObject {
  const isOne = isSchema(body) || body instanceof Content;
  const contents = isOne
    ? [describeContent(body, context)]
    : Object.entries(body).map(([type, each]) => describeContent(each, context, type.toLowerCase()));
  const [first] = isOne ? [body] : Object.values(body);
  const isRequired = first === undefined || !isOptional(first);
  return { ...(isRequired && { required: true }), content: Object.assign({}, ...contents) as JsonObject };
}

/** Whether a client may send no body. A request without a body is read as the first content. */
function isOptional(declared: ContentDeclaration): boolean {
  const schema = findSchema(declared);
  if (schema === undefined) return false;
  if (!(declared instanceof Content) || declared.kind !== "multipart") return maySkip(schema);
  const files = Object.values(declared.files ?? {});
  return files.every(({ optional }) => optional === true) && maySkip(schema, [{}]);
}

/** OpenAPI names the items of a stream from 3.2 on. */
function describeStream(item: JsonObject, { version }: ContentContext): JsonObject {
  return version === "3.2" ? { itemSchema: item } : { schema: { type: "string" }, "x-item-schema": item };
}

/** The fields of a server-sent event, as OpenAPI 3.2 section 4.14.5 has them. */
function describeEvent(data: JsonObject): JsonObject {
  return {
    type: "object",
    properties: {
      event: { type: "string" },
      data: { type: "string", contentMediaType: JSON_TYPE, contentSchema: data },
      id: { type: "string" },
      retry: { type: "integer", minimum: 0 },
    },
  };
}

/** The readers of forms take brackets as the names of an object. */
function withEncoding(schema: JsonObject, components: ComponentSchemas): JsonObject {
  const members = listMembers(components.resolve(schema)) ?? [];
  const objects = members.filter(({ schema: member }) => components.resolve(member)["type"] === "object");
  const encoding = objects.map(({ name }) => [name, { style: "deepObject", explode: true }] as const);
  return { schema, ...(encoding.length > 0 && { encoding: Object.fromEntries(encoding) }) };
}

function describeMultipart(texts: JsonObject, rules: FileRules, components: ComponentSchemas): JsonObject {
  const { schema, encoding = {} } = withEncoding(texts, components);
  const files = Object.entries(rules);
  if (files.length === 0) return { schema, ...(Object.keys(Object(encoding)).length > 0 && { encoding }) };
  const required = files.filter(([, { optional }]) => optional !== true).map(([name]) => name);
  const properties = Object.fromEntries(files.map(([name, rule]) => [name, describeFile(rule)]));
  const types = files.flatMap(([name, { types: allowed }]) =>
    allowed === undefined ? [] : [[name, { contentType: allowed.join(", ") }] as const],
  );
  const merged = { ...Object(encoding), ...Object.fromEntries(types) } as JsonObject;
  return {
    schema: mergeObjects(components.resolve(texts), { type: "object", properties, required }),
    ...(Object.keys(merged).length > 0 && { encoding: merged }),
  };
}

function describeFile({ types, bytes, several }: FileRule): JsonObject {
  const type = types?.length === 1 && !types[0]?.includes("*") ? (types[0] ?? "") : "application/octet-stream";
  const limit = bytes === undefined ? {} : { description: `At most ${bytes} bytes.` };
  const file = { ...describeBinary(type), ...limit };
  return several === true ? { type: "array", items: file } : file;
}

function mergeObjects(texts: JsonObject, files: JsonObject): JsonObject {
  if (listMembers(texts) === undefined) return { allOf: [texts, files] };
  const required = [texts["required"] ?? [], files["required"]].flat();
  const { additionalProperties: _closed, ...open } = texts;
  const properties = { ...toObject(texts["properties"]), ...toObject(files["properties"]) };
  return { ...open, properties, ...(required.length > 0 && { required }) };
}

function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The schema of a declared content, if it has one. */
export function findSchema(declared: ContentDeclaration): Schema | undefined {
  return declared instanceof Content ? declared.schema : declared;
}
