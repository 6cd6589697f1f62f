/**
 * The contract of a route as data, for the graph: JSON Schemas of draft 2020-12 for the parts of a request, and the content of each response.
 * Each schema stands alone: a `$ref` in it starts at that schema. As in the API document, it is the input side of a schema: a
 * client sends it, and a handler returns it.
 */
import { NoJsonSchema, readKnownParts } from "../../contracts/json-schema.js";
import { Content, type ContentKind, type FileRules } from "../../endpoints/content.js";
import type { Contract, ContentDeclaration } from "../../endpoints/contract.js";
import type { Idempotent } from "../../endpoints/idempotent.js";
import { isSchema, type Schema } from "../../runtime/standard-schema.js";

/** A JSON Schema. One with `$comment` alone stands for a schema without a JSON Schema, and has the reason. */
export type GraphSchema = Readonly<Record<string, unknown>>;

/** The content of a request or a response. */
export interface GraphContent {
  /** `json`, or the name of the content: `form`, `events`, `page`. */
  readonly kind: ContentKind | "json";
  /** The media type; absent where the content has none, as a redirect. */
  readonly type?: string;
  /** The schema of the JSON, of a form, of the data of each event, or of each JSON line. */
  readonly schema?: GraphSchema;
  /** The rules for the files of a multipart form. */
  readonly files?: FileRules;
  /** The components of a page. */
  readonly pages?: readonly string[];
}

/** Only the declared parts are there. */
export interface GraphShapes {
  /** The schemas of captures, by their names. */
  readonly paramSchemas?: Readonly<Record<string, GraphSchema>>;
  readonly query?: GraphSchema;
  readonly headers?: GraphSchema;
  /** The contents by their media type. */
  readonly body?: Readonly<Record<string, GraphContent>>;
  /** The contents by their status. */
  readonly responses?: Readonly<Record<string, GraphContent>>;
  /** Of an endpoint that takes an `Idempotency-Key`. */
  readonly idempotent?: Idempotent;
}

export function describeShapes({ params, query, headers, body, responses, idempotent }: Contract): GraphShapes {
  return {
    ...(idempotent !== undefined && { idempotent }),
    ...(params !== undefined && { paramSchemas: mapMembers(params, describeSchema) }),
    ...(query !== undefined && { query: describeSchema(query) }),
    ...(headers !== undefined && { headers: describeSchema(headers) }),
    ...(body !== undefined && { body: describeBody(body) }),
    ...(responses !== undefined && { responses: mapMembers(responses, (each) => describeContent(each)) }),
  };
}

function describeBody(body: NonNullable<Contract["body"]>): NonNullable<GraphShapes["body"]> {
  if (!isSchema(body) && !(body instanceof Content))
    return Object.fromEntries(
      Object.entries(body).map(([type, each]) => [type.toLowerCase(), describeContent(each, type.toLowerCase())]),
    );
  const content = describeContent(body);
  return { [content.type ?? content.kind]: content };
}

function describeContent(declared: ContentDeclaration, given?: string): GraphContent {
  if (!(declared instanceof Content))
    return { kind: "json", schema: describeSchema(declared), type: given ?? "application/json" };
  const { files, kind, schema, type } = declared;
  const isPage = kind === "page";
  const mediaType = isPage ? "text/html" : (given ?? type);
  return {
    kind,
    ...(mediaType !== undefined && { type: mediaType }),
    ...(schema !== undefined && { schema: describeSchema(schema) }),
    ...(files !== undefined && { files }),
    ...(isPage && { pages: splitComponents(declared) }),
  };
}

/** The pages that the responses of a contract may be. */
export function listContractPages({ responses = {} }: Contract): readonly string[] {
  return Object.values(responses).flatMap((each) =>
    each instanceof Content && each.kind === "page" ? splitComponents(each) : [],
  );
}

function splitComponents({ type = "" }: Content): readonly string[] {
  return type.split(",");
}

/** A part without a JSON Schema, such as a date, takes any value. */
function describeSchema(schema: Schema): GraphSchema {
  const found = readKnownParts(schema, "input");
  if (found instanceof NoJsonSchema) return { $comment: `no JSON Schema: ${found.reason}` };
  // The type lists only the members that the framework reads.
  const { $schema: _dialect, ...members } = found as GraphSchema;
  return members;
}

function mapMembers<T, R>(members: Readonly<Record<string, T>>, map: (member: T) => R): Readonly<Record<string, R>> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, map(member)]));
}
