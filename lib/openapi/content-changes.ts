/** The differences between the contents of two requests or responses, by their media type. */
import { isObject, type JsonObject } from "./document.js";
import { toObject } from "./reference-reader.js";
import {
  type ApiChange,
  type ChangeKind,
  type Direction,
  type DocumentReaders,
  SchemaComparison,
} from "./schema-changes.js";

export class ContentComparison {
  readonly changes: ApiChange[] = [];

  constructor(
    private readonly direction: Direction,
    private readonly readers: DocumentReaders,
  ) {}

  compare(before: unknown, after: unknown, where: string): void {
    const [earlier, later] = [before, after].map(listMedia);
    if (earlier === undefined || later === undefined) return;
    const [removed, added] =
      this.direction === "request"
        ? (["request-body-changed", "request-body-changed"] as const)
        : (["response-removed", "response-added"] as const);
    for (const [type, media] of earlier) {
      const opposite = later.get(type);
      if (opposite === undefined) this.add(removed, true, where, `the media type ${type} is missing`);
      else this.compareMedia(media, opposite, where);
    }
    for (const type of later.keys())
      if (!earlier.has(type)) this.add(added, false, where, `the media type ${type} is new`);
  }

  private compareMedia(before: JsonObject, after: JsonObject, where: string): void {
    const [item, opposite] = [before, after].map((media) => media["itemSchema"] ?? media["x-item-schema"]);
    const isStream = item !== undefined || opposite !== undefined;
    const comparison = new SchemaComparison(this.direction, this.readers);
    if (isStream) comparison.compare(item, opposite, where);
    else comparison.compare(before["schema"], after["schema"], where);
    this.changes.push(...comparison.changes);
    this.compareEncodings(toObject(before["encoding"]), toObject(after["encoding"]), where);
  }

  /** The media types that a file of a form may have. */
  private compareEncodings(before: JsonObject, after: JsonObject, where: string): void {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [earlier, later] = [before[name], after[name]].map(listTypes);
      if (earlier === undefined || later === undefined || earlier.join() === later.join()) continue;
      const isNarrower = !earlier.every((type) => later.some((each) => includesType(each, type)));
      const what = `the media types were ${earlier.join(", ")}, and are ${later.join(", ")}`;
      this.add("limit-changed", isNarrower, `${where}.${name}`, what);
    }
  }

  private add(kind: ChangeKind, isBreaking: boolean, where: string, what: string): void {
    this.changes.push({ kind, isBreaking, where, what });
  }
}

/** Media types have no case (RFC 9110 section 8.3.1). */
function listMedia(content: unknown): ReadonlyMap<string, JsonObject> {
  const entries = Object.entries(toObject(content)).filter(([, media]) => isObject(media));
  return new Map(entries.map(([type, media]) => [type.toLowerCase(), toObject(media)]));
}

function listTypes(encoding: unknown): readonly string[] {
  const { contentType } = toObject(encoding);
  return typeof contentType === "string" ? contentType.split(",").map((type) => type.trim().toLowerCase()) : ["*/*"];
}

function includesType(range: string, type: string): boolean {
  return range === "*/*" || range === type || (range.endsWith("/*") && type.startsWith(range.slice(0, -1)));
}
