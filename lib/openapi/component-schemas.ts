/**
 * The JSON Schemas of a document. A schema with an explicit id is a component, and so is one that contains itself; every other schema stands
 * where it is used. Two different schemas of one id are a fault, and so is a schema without a JSON Schema.
 *
 * Every part has the input side of its schema. A client sends the input of a request; the handler returns the input of a response, and that
 * value is sent. So no component has two sides.
 */
import { convertToJsonSchema, NoJsonSchema, readJsonSchema } from "../contracts/json-schema.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { valueText } from "../errors/value-text.js";
import { isSchema, type Schema } from "../runtime/standard-schema.js";
import { NAMED_SCHEMAS, readWithoutComputedDefaults } from "./computed-defaults.js";
import { isObject, type JsonObject, sortMembers } from "./document.js";
import { decodePointer, ReferenceReader } from "./reference-reader.js";

/** The use of a schema. */
export interface SchemaPlace {
  /** `notes.show.query`: the name of a component without an id. */
  readonly id: string;
  /** `query`, for messages. */
  readonly part: string;
  /** `GET /notes`, for messages. */
  readonly route: string;
}

interface Component {
  readonly schema: JsonObject;
  readonly text: string;
  readonly place: SchemaPlace;
}

export const SCHEMAS = "#/components/schemas/";

export class ComponentSchemas {
  readonly diagnostics: Diagnostic[] = [];
  private readonly components = new Map<string, Component>();
  private readonly known = new Map<Schema, JsonObject>();

  /** Returns the schema at its place: a reference, or the schema itself. */
  read(schema: Schema, place: SchemaPlace): JsonObject {
    const known = this.known.get(schema);
    if (known !== undefined) return known;
    if (!isSchema(schema)) {
      this.diagnostics.push(describeWrong(schema, place));
      return {};
    }
    const found = readDocumentSchema(schema);
    if (found instanceof NoJsonSchema) this.diagnostics.push(describeMissing(schema, found, place));
    const placed = found instanceof NoJsonSchema ? {} : this.place(found, schema, place);
    this.known.set(schema, placed);
    return placed;
  }

  /** Adds a component, and returns the reference to it. */
  add(name: string, schema: JsonObject, place: SchemaPlace): JsonObject {
    const component = { schema, text: JSON.stringify(schema), place };
    const other = this.components.get(name);
    if (other === undefined) this.components.set(name, component);
    else if (other.text !== component.text) this.diagnostics.push(describeConflict(name, other.place, place));
    return { $ref: SCHEMAS + name };
  }

  /** Follows a reference to a component. */
  resolve(schema: JsonObject): JsonObject {
    const { $ref } = schema;
    if (typeof $ref !== "string") return schema;
    return this.components.get($ref.slice(SCHEMAS.length))?.schema ?? {};
  }

  list(): Readonly<Record<string, JsonObject>> {
    return sortMembers([...this.components].map(([name, { schema }]) => [name, schema] as const));
  }

  private place(root: JsonObject, { "~standard": { vendor } }: Schema, place: SchemaPlace): JsonObject {
    const { $schema: _dialect, $defs: definitions, $id, id, ...body } = root;
    const defined = Object.entries(isObject(definitions) ? definitions : {});
    const names = new Map(
      defined.map(([key], at) => [key, toComponentName(isGenerated(key, vendor) ? `${place.id}.${at + 1}` : key)]),
    );
    let containsItself = false;
    const rename = (reference: string): string => {
      const [, key = "", rest = ""] = /^#\/\$defs\/([^/]+)(.*)$/.exec(reference) ?? [];
      const name = names.get(decodePointer(key));
      if (name !== undefined) return SCHEMAS + name + rest;
      containsItself = true;
      return SCHEMAS + rootName + reference.slice(1);
    };
    const explicit = [$id, id].find((each) => typeof each === "string");
    const rootName = toComponentName(explicit ?? place.id);
    for (const [key, schema] of defined)
      if (isObject(schema)) this.add(names.get(key) ?? key, mapReferences(schema, rename), place);
    const own = mapReferences(body, rename);
    return explicit !== undefined || containsItself ? this.add(rootName, own, place) : own;
  }
}

/** Returns the JSON Schema as plain JSON, or the reason why it cannot be in a document. */
function readDocumentSchema(schema: Schema): JsonObject | NoJsonSchema {
  const found = readJsonSchema(schema, "input");
  if (found instanceof NoJsonSchema) return found;
  try {
    const known = toPlainJson(found);
    const plain = hasDefault(known)
      ? readWithoutComputedDefaults(() => toPlainJson(convertToJsonSchema(schema, "input")))
      : known;
    const missing = findMissingReference(plain, new ReferenceReader(plain));
    return missing === undefined ? plain : new NoJsonSchema(`it has no place ${missing}, to which it refers`);
  } catch (error) {
    // A value that is no JSON, or an object that contains itself.
    const [reason = ""] = String(Reflect.get(Object(error), "message")).split("\n");
    return new NoJsonSchema(reason);
  }
}

/** @throws TypeError for a value that is no JSON */
function toPlainJson(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

/** True also for a member of this name. */
function hasDefault(plain: JsonObject): boolean {
  return JSON.stringify(plain).includes('"default":');
}

function findMissingReference(schema: JsonObject, reader: ReferenceReader): string | undefined {
  let missing: string | undefined;
  mapReferences(schema, (reference) => {
    if (reader.find(reference) === undefined) missing ??= reference;
    return reference;
  });
  return missing;
}

/** The names of components have these characters only (OpenAPI 3.1 section 4.8.7). */
function toComponentName(id: string): string {
  return id.replace(/[^\w.-]/g, "-");
}

/** Whether the library invented the name: zod and valibot for a schema that contains itself, arktype for any. */
function isGenerated(key: string, vendor: string): boolean {
  return vendor === "arktype" ? /^[a-z]+\d+$/.test(key) : /^(?:__schema)?\d+$/.test(key);
}

/** In JavaScript, and for routes without an application, whose contracts nothing has checked. */
function describeWrong(given: unknown, { part, route }: SchemaPlace): Diagnostic {
  return {
    code: "E_CONTRACT",
    what: `${part} of ${route} is ${valueText(given)}, which is neither a schema nor a content`,
    where: route,
    fix: "give a schema, such as z.object({ … }), or a content, such as content.text()",
  };
}

function describeMissing(schema: Schema, { reason }: NoJsonSchema, { part, route }: SchemaPlace): Diagnostic {
  const what = `${part} of ${route} has no JSON Schema for the API document: ${reason}`;
  return { code: "E_OPENAPI_SCHEMA", what, where: route, fix: listCures(schema) };
}

const STATE_IT = "state it: withJsonSchema(schema, { type: … })";

function listCures({ "~standard": standard }: Schema): string {
  if ("jsonSchema" in standard) return `${STATE_IT}, or use a type that JSON has`;
  if (standard.vendor === "valibot")
    return `wrap it: toStandardJsonSchema(schema) of @valibot/to-json-schema, or ${STATE_IT}`;
  if (standard.vendor === "zod")
    return 'with zod/mini write withJsonSchema(schema, z.toJSONSchema(schema, { io: "input" })); zod itself gives one from version 4.2';
  return STATE_IT;
}

function describeConflict(name: string, first: SchemaPlace, second: SchemaPlace): Diagnostic {
  const [one, other] = [first, second].map(({ part, route }) => `${part} of ${route}`);
  return {
    code: "E_OPENAPI_COMPONENT",
    what: `two different schemas of the API document have the id ${name}`,
    where: `${one} and ${other}`,
    fix: "give one of the two another id",
  };
}

/** Members whose value is data. */
const VALUES: ReadonlySet<string> = new Set(["const", "default", "enum", "example", "examples", "required"]);

/** Returns a copy of a schema with its local references renamed. Members that say nothing are left out. */
function mapReferences(schema: JsonObject, rename: (reference: string) => string): JsonObject {
  const entries = Object.entries(schema).filter(([name, value]) => value !== undefined && !isSafeBound(name, value));
  return Object.fromEntries(entries.map(([name, value]) => [name, mapMember(name, value, rename)]));
}

/** Whether a member is a bound of all integers that JavaScript has. */
function isSafeBound(name: string, value: unknown): boolean {
  return name === "minimum"
    ? value === Number.MIN_SAFE_INTEGER
    : name === "maximum" && value === Number.MAX_SAFE_INTEGER;
}

function mapMember(name: string, value: unknown, rename: (reference: string) => string): unknown {
  if (name === "$ref") return typeof value === "string" && value.startsWith("#") ? rename(value) : value;
  if (VALUES.has(name)) return value;
  if (Array.isArray(value)) return value.map((each: unknown) => mapMember("", each, rename));
  if (!isObject(value)) return value;
  if (!NAMED_SCHEMAS.has(name)) return mapReferences(value, rename);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapMember("", each, rename)]));
}
