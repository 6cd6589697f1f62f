/**
 * The differences between two OpenAPI documents, each with its kind, and whether it breaks a client of the earlier one.
 *
 * @example
 * const before = JSON.parse(readFileSync("openapi.json", "utf8"));
 * const breaking = checkOpenApi(before, createOpenApi(application)).filter(({ isBreaking }) => isBreaking);
 */
import { checkOptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import { ContentComparison } from "./content-changes.js";
import { isObject, type JsonObject } from "./document.js";
import { getMember, ReferenceReader, toObject } from "./reference-reader.js";
import {
  type ApiChange,
  type ChangeKind,
  type Direction,
  type DocumentReaders,
  SchemaComparison,
} from "./schema-changes.js";
import { findSecurityChange } from "./security-changes.js";

/** The members of a path item that are operations. Version 3.1 has QUERY as an extension. */
const METHODS = ["delete", "get", "head", "options", "patch", "post", "put", "query", "trace", "x-query"];

export interface OpenApiCheckOptions {
  /** The time of the check. An operation whose sunset has passed may be missing; unless set, each missing operation is breaking. */
  readonly at?: Date;
}

/**
 * @returns the changes in the order of the paths; none for equal documents
 * @throws FrameworkError `E_OPENAPI_DOCUMENT` for a value that is no document, such as an empty file
 */
export function checkOpenApi(before: object, after: object, options: OpenApiCheckOptions = {}): readonly ApiChange[] {
  checkOptionNames<OpenApiCheckOptions>(options, { at: true }, "checkOpenApi");
  requireDocument("before", before);
  requireDocument("after", after);
  return new DocumentComparison(before, after, options).run();
}

/** Without operations nothing would be missing, and the check would find no fault. */
function requireDocument(name: string, given: unknown): void {
  if (typeof getMember(given, "openapi") === "string" && isObject(getMember(given, "paths"))) return;
  throw createSetupError(
    "E_OPENAPI_DOCUMENT",
    `checkOpenApi: ${name} is ${valueText(given)} without the members openapi and paths: give a document of createOpenApi`,
  );
}

class DocumentComparison {
  private readonly changes: ApiChange[] = [];
  private readonly readers: DocumentReaders;

  constructor(
    private readonly before: object,
    private readonly after: object,
    private readonly options: OpenApiCheckOptions,
  ) {
    this.readers = { before: new ReferenceReader(before), after: new ReferenceReader(after) };
  }

  run(): readonly ApiChange[] {
    const [earlier, later] = [listOperations(this.before), listOperations(this.after)];
    for (const [key, [title, operation]] of earlier) {
      const [, opposite] = later.get(key) ?? [];
      if (opposite === undefined) this.addRemoved(title, operation);
      else this.compareOperations(title, operation, opposite);
    }
    for (const [key, [title]] of later)
      if (!earlier.has(key)) this.add("operation-added", false, title, "the operation is new");
    return this.changes;
  }

  private addRemoved(title: string, { "x-sunset": sunset }: JsonObject): void {
    const { at } = this.options;
    const hasEnded = at !== undefined && typeof sunset === "string" && Date.parse(sunset) <= at.getTime();
    const what = hasEnded ? `the operation is missing, as announced for ${sunset}` : "the operation is missing";
    this.add("operation-removed", !hasEnded, title, what);
  }

  private compareOperations(title: string, before: JsonObject, after: JsonObject): void {
    const { operationId } = before;
    if (operationId !== after["operationId"])
      this.add("operation-renamed", true, title, `${String(operationId)} became ${String(after["operationId"])}`);
    if (before["deprecated"] !== true && after["deprecated"] === true)
      this.add("operation-deprecated", false, title, "the operation is deprecated");
    const sunset = after["x-sunset"];
    if (typeof sunset === "string" && sunset !== before["x-sunset"])
      this.add("operation-deprecated", false, title, `the operation may be missing from ${sunset} on`);
    this.compareSecurity(title, before, after);
    this.compareParameters(title, before, after);
    this.compareBodies(`${title}, body`, this.locate(before["requestBody"], after["requestBody"]));
    this.compareResponses(title, toObject(before["responses"]), toObject(after["responses"]));
  }

  private compareSecurity(title: string, before: JsonObject, after: JsonObject): void {
    const change = findSecurityChange(
      { document: this.before, operation: before },
      { document: this.after, operation: after },
    );
    if (change !== undefined) this.add("security-changed", change.isBreaking, title, change.what);
  }

  private compareParameters(title: string, before: JsonObject, after: JsonObject): void {
    const earlier = listParameters(before, this.readers.before);
    const later = listParameters(after, this.readers.after);
    for (const [key, parameter] of earlier) {
      const opposite = later.get(key);
      const where = `${title}, ${formatParameter(parameter)}`;
      if (opposite === undefined) this.add("parameter-removed", true, where, "the parameter is missing");
      else this.compareParameter(where, parameter, opposite);
    }
    for (const [key, parameter] of later) {
      if (earlier.has(key)) continue;
      const isRequired = parameter["required"] === true;
      const what = isRequired ? "it is new and required" : "it is new";
      this.add("parameter-added", isRequired, `${title}, ${formatParameter(parameter)}`, what);
    }
  }

  private compareParameter(where: string, before: JsonObject, after: JsonObject): void {
    if (before["required"] !== true && after["required"] === true)
      this.add("parameter-required", true, where, "the parameter became required");
    const [earlier, later] = [before, after].map(({ style, explode }) => `${String(style)}, ${String(explode)}`);
    if (earlier !== later) this.add("parameter-changed", true, where, "its style in the URL changed");
    const comparison = new SchemaComparison("request", this.readers);
    comparison.compare(before["schema"], after["schema"], where);
    this.changes.push(...comparison.changes);
  }

  private compareBodies(where: string, [before, after]: readonly [JsonObject, JsonObject]): void {
    const [hadBody, isRequired] = ["content" in before, after["required"] === true];
    if (!hadBody && "content" in after)
      return this.add("request-body-changed", isRequired, where, "the request has a body now");
    if (hadBody && before["required"] !== true && isRequired)
      this.add("request-body-changed", true, where, "the body became required");
    this.compareContents("request", before["content"], after["content"], where);
  }

  private compareResponses(title: string, before: JsonObject, after: JsonObject): void {
    for (const [status, response] of Object.entries(before)) {
      const where = `${title}, ${status}`;
      if (!Object.hasOwn(after, status)) this.add("response-removed", status < "400", where, "the response is missing");
      else {
        const [earlier, later] = this.locate(response, after[status]);
        this.compareHeaders(toObject(earlier["headers"]), toObject(later["headers"]), where);
        this.compareContents("response", earlier["content"], later["content"], where);
      }
    }
    for (const status of Object.keys(after).filter((each) => !Object.hasOwn(before, each)))
      this.add("response-added", status < "400", `${title}, ${status}`, "the response is new");
  }

  /** A client may rely on a header that each response has. */
  private compareHeaders(before: JsonObject, after: JsonObject, where: string): void {
    for (const [name, header] of Object.entries(before)) {
      const [earlier, later] = this.locate(header, after[name]);
      if (earlier["required"] === true && later["required"] !== true)
        this.add("response-removed", true, where, `the header ${name} is not in each response any more`);
    }
  }

  private compareContents(direction: Direction, before: unknown, after: unknown, where: string): void {
    const comparison = new ContentComparison(direction, this.readers);
    comparison.compare(before, after, where);
    this.changes.push(...comparison.changes);
  }

  private locate(before: unknown, after: unknown): readonly [JsonObject, JsonObject] {
    return [this.readers.before.locate(before), this.readers.after.locate(after)];
  }

  private add(kind: ChangeKind, isBreaking: boolean, where: string, what: string): void {
    this.changes.push({ kind, isBreaking, where, what });
  }
}

/** The operations by method and path, in which the names of captures do not count. */
function listOperations(document: object): ReadonlyMap<string, readonly [title: string, operation: JsonObject]> {
  const items = Object.entries(toObject(Reflect.get(document, "paths")));
  return new Map(
    items.flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = getMember(item, method);
        if (!isObject(operation)) return [];
        const title = `${method.replace("x-", "").toUpperCase()} ${path}`;
        const parameters = [getMember(item, "parameters") ?? [], operation["parameters"] ?? []].flat();
        return [[title.replace(/\{[^}]*\}/g, "{}"), [title, { ...operation, parameters }]] as const];
      }),
    ),
  );
}

/** For messages. */
function formatParameter(parameter: JsonObject): string {
  return `${String(parameter["in"])} ${String(parameter["name"])}`;
}

/** The parameters by place and name; captures by their order, because a client fills them by it. */
function listParameters({ parameters }: JsonObject, reader: ReferenceReader): ReadonlyMap<string, JsonObject> {
  const given: readonly unknown[] = Array.isArray(parameters) ? parameters : [];
  let captures = 0;
  return new Map(
    given.map((each) => {
      const parameter = reader.locate(each);
      const title = formatParameter(parameter);
      if (parameter["in"] === "path") return [`path ${++captures}`, parameter];
      // The names of headers have no case.
      return [parameter["in"] === "header" ? title.toLowerCase() : title, parameter];
    }),
  );
}
