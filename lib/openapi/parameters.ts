/** The parameters of an operation: captures of the path, members of the query, headers (OpenAPI 3.1 section 4.8.12). */
import { maySkip } from "../contracts/left-out.js";
import type { Contract } from "../endpoints/contract.js";
import type { Idempotent } from "../endpoints/idempotent.js";
import type { Path } from "../endpoints/path.js";
import type { ComponentSchemas, SchemaPlace } from "./component-schemas.js";
import { isObject, type JsonObject } from "./document.js";

/** A path of the document, for all templates of the same paths. */
export interface DocumentPath {
  /** `/files/{rest}`: a catch-all is written as a capture. */
  readonly key: string;
  readonly names: readonly string[];
}

/** Parameters that OpenAPI names elsewhere, and ignores among the headers. */
const IGNORED_HEADERS: ReadonlySet<string> = new Set(["accept", "authorization", "content-type"]);

export function toDocumentPath({ names, segments }: Path): DocumentPath {
  const written = segments.map(({ kind, text }) => (kind === "literal" ? `/${text}` : `/{${text}}`));
  return { key: written.join(""), names };
}

export interface ParameterSource {
  readonly path: Path;
  readonly contract: Partial<Contract>;
  readonly documentPath: DocumentPath;
  readonly place: (part: string) => SchemaPlace;
}

export function listParameters(source: ParameterSource, components: ComponentSchemas): readonly JsonObject[] {
  const { idempotent } = source.contract;
  return [
    ...listCaptures(source, components),
    ...listQuery(source, components),
    ...listHeaders(source, components),
    ...(idempotent === undefined ? [] : [describeKey(idempotent)]),
  ];
}

function describeKey({ required, ttlMs }: Idempotent): JsonObject {
  return {
    name: "Idempotency-Key",
    in: "header",
    required,
    description: `A random key of 1 to 255 characters. For ${ttlMs / 1000} seconds a request with the same key gets the same response, with \`Idempotency-Replayed: true\`.`,
    schema: { type: "string", minLength: 1 },
  };
}

function listCaptures(
  { path, contract: { params = {} }, documentPath, place }: ParameterSource,
  components: ComponentSchemas,
): readonly JsonObject[] {
  const rest = path.segments.find(({ kind }) => kind === "catch-all")?.text;
  return path.names.map((name, at) => {
    const given = Object.hasOwn(params, name) ? params[name] : undefined;
    const schema = given === undefined ? { type: "string" } : components.read(given, place(`params.${name}`));
    return {
      name: documentPath.names[at] ?? name,
      in: "path",
      required: true,
      ...(name === rest && { description: "The rest of the path, which may contain slashes." }),
      ...withoutDescription(schema),
    };
  });
}

/** The description of a schema describes the parameter. */
function withoutDescription(schema: JsonObject): JsonObject {
  const { description, ...rest } = schema;
  return typeof description === "string" ? { description, schema: rest } : { schema };
}

function listQuery(
  { contract: { query }, place }: ParameterSource,
  components: ComponentSchemas,
): readonly JsonObject[] {
  if (query === undefined) return [];
  const schema = components.read(query, place("query"));
  const members = listMembers(components.resolve(schema));
  // With this style each member of the object is a name of the query.
  if (members === undefined) return [{ name: "query", in: "query", style: "form", explode: true, schema }];
  const isOptional = maySkip(query);
  return members.map(({ name, isRequired, schema: member }) => ({
    name,
    in: "query",
    // A query that may be left out as a whole has no member that each request needs.
    required: isRequired && !isOptional,
    ...withoutDescription(member),
    // The readers take brackets as the names of an object.
    ...(components.resolve(member)["type"] === "object" && { style: "deepObject", explode: true }),
  }));
}

function listHeaders(
  { contract: { headers, idempotent }, place }: ParameterSource,
  components: ComponentSchemas,
): readonly JsonObject[] {
  if (headers === undefined) return [];
  const members = listMembers(components.resolve(components.read(headers, place("headers")))) ?? [];
  return members
    .filter(({ name }) => !IGNORED_HEADERS.has(name) && !(idempotent && name === "idempotency-key"))
    .map(({ name, isRequired, schema }) => ({
      name,
      in: "header",
      required: isRequired,
      ...withoutDescription(schema),
    }));
}

export interface SchemaMember {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: JsonObject;
}

/** The members of an object; `undefined` for a schema that does not name all of them. */
export function listMembers({
  properties,
  required,
  additionalProperties,
  ...rest
}: JsonObject): readonly SchemaMember[] | undefined {
  const isOpen = isObject(additionalProperties) && Object.keys(additionalProperties).length > 0;
  if (!isObject(properties) || isOpen || ["allOf", "anyOf", "oneOf", "$ref"].some((name) => name in rest))
    return undefined;
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    isRequired: names.includes(name),
    schema: isObject(schema) ? schema : {},
  }));
}
