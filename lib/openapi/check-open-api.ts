/**
 * The differences between two OpenAPI documents, each with its kind, and whether it breaks a client of the earlier one.
 *
 * @example
 * const before = JSON.parse(readFileSync("openapi.json", "utf8"));
 * const breaking = checkOpenApi(before, createOpenApi(application)).filter(({ isBreaking }) => isBreaking);
 */
import { isObject, type JsonObject } from "./document.js";
import {
  type ApiChange,
  type ChangeKind,
  type Direction,
  type FollowReference,
  SchemaComparison,
} from "./schema-changes.js";

/** The members of a path item that are operations. */
const METHODS = ["delete", "get", "head", "options", "patch", "post", "put", "query", "trace", "x-query"];

/** @returns the changes in the order of the paths; none for equal documents */
export function checkOpenApi(before: object, after: object): readonly ApiChange[] {
  return new DocumentComparison(createReader(before), createReader(after)).run(before, after);
}

class DocumentComparison {
  private readonly changes: ApiChange[] = [];

  constructor(
    private readonly before: FollowReference,
    private readonly after: FollowReference,
  ) {}

  run(before: object, after: object): readonly ApiChange[] {
    const [earlier, later] = [listOperations(before), listOperations(after)];
    for (const [key, [title, operation]] of earlier) {
      const [, opposite] = later.get(key) ?? [];
      if (opposite === undefined) this.add("operation-removed", true, title, "the operation is missing");
      else this.compareOperations(title, operation, opposite);
    }
    for (const [key, [title]] of later)
      if (!earlier.has(key)) this.add("operation-added", false, title, "the operation is new");
    return this.changes;
  }

  private compareOperations(title: string, before: JsonObject, after: JsonObject): void {
    const { operationId } = before;
    if (operationId !== after["operationId"])
      this.add("operation-renamed", true, title, `${String(operationId)} became ${String(after["operationId"])}`);
    if (before["deprecated"] !== true && after["deprecated"] === true)
      this.add("operation-deprecated", false, title, "the operation is deprecated");
    this.compareSecurity(title, before["security"], after["security"]);
    this.compareParameters(title, before, after);
    this.compareBodies(title, this.before(before["requestBody"]), this.after(after["requestBody"]));
    this.compareResponses(title, toObject(before["responses"]), toObject(after["responses"]));
  }

  private compareSecurity(title: string, before: unknown = [], after: unknown = []): void {
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    const isPublic = Array.isArray(after) && after.length === 0;
    this.add("security-changed", !isPublic, title, `${JSON.stringify(before)} became ${JSON.stringify(after)}`);
  }

  private compareParameters(title: string, before: JsonObject, after: JsonObject): void {
    const earlier = listParameters(before, this.before);
    const later = listParameters(after, this.after);
    for (const [key, parameter] of earlier) {
      const opposite = later.get(key);
      const where = `${title}, ${key}`;
      if (opposite === undefined) {
        this.add("parameter-removed", true, where, "the parameter is missing");
        continue;
      }
      if (parameter["required"] !== true && opposite["required"] === true)
        this.add("parameter-required", true, where, "the parameter became required");
      this.compareSchemas("request", parameter["schema"], opposite["schema"], where);
    }
    for (const [key, parameter] of later) {
      const isRequired = parameter["required"] === true;
      if (!earlier.has(key))
        this.add(
          "parameter-added",
          isRequired,
          `${title}, ${key}`,
          isRequired ? "it is new and required" : "it is new",
        );
    }
  }

  private compareBodies(title: string, before: JsonObject, after: JsonObject): void {
    const [earlier, later] = [toObject(before["content"]), toObject(after["content"])];
    const where = `${title}, body`;
    if (Object.keys(earlier).length === 0 && Object.keys(later).length > 0)
      return this.add("request-body-changed", after["required"] === true, where, "the request has a body now");
    this.compareContents("request", earlier, later, where);
  }

  private compareResponses(title: string, before: JsonObject, after: JsonObject): void {
    for (const [status, response] of Object.entries(before)) {
      const where = `${title}, ${status}`;
      if (!(status in after)) this.add("response-removed", status < "400", where, "the response is missing");
      else {
        const [earlier, later] = [this.before(response), this.after(after[status])];
        this.compareContents("response", toObject(earlier["content"]), toObject(later["content"]), where);
      }
    }
    for (const status of Object.keys(after).filter((each) => !(each in before)))
      this.add("response-added", status < "400", `${title}, ${status}`, "the response is new");
  }

  private compareContents(direction: Direction, before: JsonObject, after: JsonObject, where: string): void {
    const kind = direction === "request" ? "request-body-changed" : "response-removed";
    for (const [type, media] of Object.entries(before)) {
      const [earlier, later] = [toObject(media), after[type]];
      if (!isObject(later)) this.add(kind, true, where, `the media type ${type} is missing`);
      else
        for (const part of ["schema", "itemSchema", "x-item-schema"])
          this.compareSchemas(direction, earlier[part], later[part], where);
    }
    const added = Object.keys(after).filter((type) => !(type in before));
    const addedKind = direction === "request" ? "request-body-changed" : "response-added";
    for (const type of added) this.add(addedKind, false, where, `the media type ${type} is new`);
  }

  private compareSchemas(direction: Direction, before: unknown, after: unknown, where: string): void {
    const comparison = new SchemaComparison(direction, { before: this.before, after: this.after });
    comparison.compare(before, after, where);
    this.changes.push(...comparison.changes);
  }

  private add(kind: ChangeKind, isBreaking: boolean, where: string, what: string): void {
    this.changes.push({ kind, isBreaking, where, what });
  }
}

function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The operations by method and path, in which the names of captures do not count. */
function listOperations(document: object): ReadonlyMap<string, readonly [title: string, operation: JsonObject]> {
  const items = Object.entries(toObject(Reflect.get(document, "paths")));
  return new Map(
    items.flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = toObject(item)[method];
        const title = `${method.toUpperCase()} ${path}`;
        return isObject(operation) ? [[title.replace(/\{[^}]*\}/g, "{}"), [title, operation]] as const] : [];
      }),
    ),
  );
}

/** The parameters by place and name; captures by their order, because a client fills them by it. */
function listParameters({ parameters }: JsonObject, follow: FollowReference): ReadonlyMap<string, JsonObject> {
  const given: readonly unknown[] = Array.isArray(parameters) ? parameters : [];
  let captures = 0;
  return new Map(
    given.map((each) => {
      const parameter = follow(each);
      const place = String(parameter["in"]);
      return [place === "path" ? `path ${++captures}` : `${place} ${String(parameter["name"])}`, parameter];
    }),
  );
}

const MAX_REFERENCES = 16;

/** Follows local references of a document. */
function createReader(document: object): FollowReference {
  return (schema) => {
    let found = toObject(schema);
    for (let steps = 0; typeof found["$ref"] === "string" && steps < MAX_REFERENCES; steps++) {
      const parts = found["$ref"].split("/").slice(1);
      const names = parts.map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
      found = toObject(names.reduce((value: unknown, name) => toObject(value)[name], document));
    }
    return found;
  };
}
