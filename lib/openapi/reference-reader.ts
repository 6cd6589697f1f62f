/** Reads the parts of an OpenAPI document through its local references, as the comparison of two documents needs them. */
import { isObject, type JsonObject } from "./document.js";

/** The schema that no value fits: `false` in a document. */
const NEVER: JsonObject = { not: {} };
const MAX_REFERENCES = 64;

export class ReferenceReader {
  constructor(private readonly document: object) {}

  /** Returns the object itself, or the one that it names by nothing but a reference. Two places of one component have the same object. */
  locate(value: unknown): JsonObject {
    let found = value === false ? NEVER : toObject(value);
    for (let steps = 0; isReference(found) && steps < MAX_REFERENCES; steps++) found = toObject(this.find(found.$ref));
    return found;
  }

  /** Returns a schema with the members beside its reference, and with those of the schemas under `allOf`. */
  readSchema(value: unknown, depth = 0): JsonObject {
    const { $ref, allOf, ...rest } = this.locate(value);
    const named = typeof $ref === "string" ? [this.find($ref)] : [];
    const parts = [...named, ...(Array.isArray(allOf) ? (allOf as readonly unknown[]) : [])];
    if (parts.length === 0 || depth > MAX_REFERENCES) return rest;
    return [...parts.map((part) => this.readSchema(part, depth + 1)), rest].reduce(mergeSchemas);
  }

  /** Finds the value of a local reference. */
  find(reference: string): unknown {
    const [start, ...names] = reference.split("/").map(decodePointer);
    return start === "#" ? names.reduce(getMember, this.document) : undefined;
  }
}

/** Both schemas hold, so the members of both are required. */
function mergeSchemas(one: JsonObject, other: JsonObject): JsonObject {
  const required = [one["required"] ?? [], other["required"] ?? []].flat();
  const properties = { ...toObject(one["properties"]), ...toObject(other["properties"]) };
  return {
    ...one,
    ...other,
    ...(required.length > 0 && { required }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
}

function isReference(value: JsonObject): value is JsonObject & { readonly $ref: string } {
  return typeof value["$ref"] === "string" && Object.keys(value).length === 1;
}

/** A name that is no valid percent-encoding stands for itself. */
export function decodePointer(part: string): string {
  const text = /%(?![\dA-Fa-f]{2})/.test(part) ? part : decodeText(part);
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}

function decodeText(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns a member of an object or a list, and none of its prototype. */
export function getMember(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

export function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
