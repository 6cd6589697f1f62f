/**
 * The TypeScript of a JSON Schema, as far as schema libraries write it: https://json-schema.org/draft/2020-12. A part that no type can say,
 * such as a pattern or a bound, is left out, and an unknown form is `unknown`.
 */
import { isObject, type JsonObject } from "../../../openapi/document.js";
import { SCHEMAS } from "../../../openapi/component-schemas.js";
import { decodePointer } from "../../../openapi/reference-reader.js";

/** The type of a schema. References are members of the interface `Schemas`. @param indent of the line on which the type begins */
export function toTypeText(schema: unknown, indent: string): string {
  if (schema === false) return "never";
  if (!isObject(schema)) return "unknown";
  const { $ref, allOf, anyOf, oneOf, not, ...rest } = schema;
  const parts = [
    ...(typeof $ref === "string" ? [toReference($ref)] : []),
    ...listSchemas(allOf).map((each) => toTypeText(each, indent)),
    ...[anyOf, oneOf].filter(Array.isArray).map((each) => join(listSchemas(each), indent)),
    ...toPlainParts(rest, indent),
  ].filter((part) => part !== "unknown");
  if (isObject(not) && Object.keys(not).length === 0) return "never";
  return parts.length === 0 ? "unknown" : parts.map((part) => group(part, parts.length)).join(" & ");
}

/** A name of a member: quoted where it is neither an identifier nor a number. */
export function toMemberName(name: string): string {
  return /^(?:[A-Za-z_$][\w$]*|[1-9]\d{0,8})$/.test(name) ? name : JSON.stringify(name);
}

/** Members of an object type or an object, each on a line of its text. */
export function toMembers(members: readonly string[], indent: string): string {
  return members.length === 0 ? "{}" : `{\n${members.map((each) => `${indent}  ${each}\n`).join("")}${indent}}`;
}

function join(schemas: readonly unknown[], indent: string): string {
  return joinTypes(schemas.map((each) => toTypeText(each, indent)));
}

function joinTypes(types: readonly string[]): string {
  const unique = [...new Set(types)].filter((each) => each !== "never");
  if (unique.includes("unknown")) return "unknown";
  return unique.length === 0 ? "never" : unique.map((each) => (each.includes(" & ") ? `(${each})` : each)).join(" | ");
}

function group(part: string, count: number): string {
  return count > 1 && part.includes(" | ") ? `(${part})` : part;
}

function toReference(reference: string): string {
  const [name = "", ...inner] = reference.slice(SCHEMAS.length).split("/").map(decodePointer);
  // A place inside a component has no name in a type.
  return reference.startsWith(SCHEMAS) && inner.length === 0 ? `Schemas[${JSON.stringify(name)}]` : "unknown";
}

function listSchemas(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** None for a schema that says nothing about the type. */
function toPlainParts(schema: JsonObject, indent: string): readonly string[] {
  if ("const" in schema) return [toValueType(schema["const"], indent)];
  if (Array.isArray(schema["enum"])) return [joinTypes(schema["enum"].map((each) => toValueType(each, indent)))];
  const { type = isObject(schema["properties"]) ? "object" : undefined } = schema;
  const types: readonly unknown[] = Array.isArray(type) ? type : type === undefined ? [] : [type];
  return types.length === 0 ? [] : [joinTypes(types.map((each) => toNamedType(each, schema, indent)))];
}

function toNamedType(type: unknown, schema: JsonObject, indent: string): string {
  if (type === "object") return toObjectType(schema, indent);
  if (type === "array") return toListType(schema, indent);
  if (type === "integer") return "number";
  return type === "string" || type === "number" || type === "boolean" || type === "null" ? type : "unknown";
}

function toObjectType(
  { properties, required, additionalProperties, patternProperties }: JsonObject,
  indent: string,
): string {
  const names: readonly unknown[] = listSchemas(required);
  const members = Object.entries(isObject(properties) ? properties : {}).map(([name, member]) => {
    const text = toTypeText(member, `${indent}  `);
    return names.includes(name)
      ? `readonly ${toMemberName(name)}: ${text};`
      : `readonly ${toMemberName(name)}?: ${text} | undefined;`;
  });
  // The type of the others would hold for the named members too.
  const others = isObject(additionalProperties) ? toTypeText(additionalProperties, `${indent}  `) : "unknown";
  const isOpen = patternProperties !== undefined || isObject(additionalProperties) || additionalProperties === true;
  if (isOpen) members.push(`readonly [name: string]: ${members.length > 0 || patternProperties ? "unknown" : others};`);
  return members.length === 0 ? "object" : toMembers(members, indent);
}

function toListType({ items, prefixItems }: JsonObject, indent: string): string {
  const item = toTypeText(items ?? true, indent);
  if (!Array.isArray(prefixItems)) return `readonly ${toItem(item)}[]`;
  const first = prefixItems.map((each) => toTypeText(each, indent));
  return `readonly [${[...first, ...(items === false ? [] : [`...${toItem(item)}[]`])].join(", ")}]`;
}

function toItem(type: string): string {
  return /[|&]|^readonly/.test(type) ? `(${type})` : type;
}

/** The type of exactly this value. */
function toValueType(value: unknown, indent: string): string {
  if (Array.isArray(value)) return `readonly [${value.map((each) => toValueType(each, indent)).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "unknown";
  const members = Object.entries(value).map(
    ([name, each]) => `readonly ${toMemberName(name)}: ${toValueType(each, `${indent}  `)};`,
  );
  return members.length === 0 ? "object" : toMembers(members, indent);
}
