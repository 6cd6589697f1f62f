/**
 * The differences between two JSON Schemas, as a client sees them. A client sends values of a request, so a value that is refused from now on
 * breaks it. It receives values of a response, so a value that is new, and a member that is missing, break it.
 */
import { isObject, type JsonObject } from "./document.js";
import { getMember, type ReferenceReader, toObject } from "./reference-reader.js";
import {
  hasAlternatives,
  listAlternatives,
  listTypes,
  listValues,
  pairAlternatives,
  takesAnyValue,
  takesNoValue,
} from "./schema-alternatives.js";

export type ChangeKind =
  | "alternatives-changed"
  | "default-changed"
  | "limit-changed"
  | "member-added"
  | "member-optional"
  | "member-removed"
  | "member-required"
  | "operation-added"
  | "operation-deprecated"
  | "operation-removed"
  | "operation-renamed"
  | "parameter-added"
  | "parameter-changed"
  | "parameter-removed"
  | "parameter-required"
  | "request-body-changed"
  | "response-added"
  | "response-removed"
  | "security-changed"
  | "type-changed"
  | "values-changed";

export interface ApiChange {
  readonly kind: ChangeKind;
  /** Whether a client of the earlier document may fail. */
  readonly isBreaking: boolean;
  /** `GET /notes, query page`. */
  readonly where: string;
  readonly what: string;
}

export type Direction = "request" | "response";

/** The readers of the two documents. */
export interface DocumentReaders {
  readonly before: ReferenceReader;
  readonly after: ReferenceReader;
}

const LOWER_LIMITS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER_LIMITS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/** Forms of a text or a file: a client may read the value by them. */
const FORMATS = ["format", "contentMediaType"];
const FORMS = [...FORMATS, "pattern", "multipleOf", "uniqueItems"];
/** Members with one schema, and their place. Without the member any value is allowed. */
const SUBSCHEMAS = [
  ["items", ".0"],
  ["propertyNames", ".*"],
  ["contentSchema", ""],
] as const;
/** Members whose direction is unknown. */
const CONDITIONS = ["not", "if", "then", "else", "contains", "dependentRequired", "dependentSchemas"];

export class SchemaComparison {
  readonly changes: ApiChange[] = [];
  /** Schemas may contain themselves. */
  private readonly known = new Map<JsonObject, Set<JsonObject>>();

  constructor(
    private readonly direction: Direction,
    private readonly readers: DocumentReaders,
  ) {}

  compare(given: unknown, opposite: unknown, where: string): void {
    const { before, after } = this.readers;
    const [one, other] = [before.locate(given), after.locate(opposite)];
    const known = this.known.get(one) ?? new Set();
    if (known.has(other)) return;
    this.known.set(one, known.add(other));
    const [earlier, later] = [before.readSchema(one), after.readSchema(other)];
    if (hasAlternatives(earlier) || hasAlternatives(later)) this.compareAlternatives(earlier, later, where);
    else if (this.compareTypes(earlier, later, where)) this.compareParts(earlier, later, where);
    this.compareDefaults(earlier, later, where);
  }

  private compareParts(before: JsonObject, after: JsonObject, where: string): void {
    this.compareValues(before, after, where);
    this.compareLimits(before, after, where);
    this.compareMembers(before, after, where);
    for (const [part, place] of SUBSCHEMAS)
      if (part in before || part in after) this.compare(before[part], after[part], where + place);
    this.compareAdditional(before["additionalProperties"], after["additionalProperties"], where);
    this.compareEach("prefixItems", before, after, where);
    this.compareEach("patternProperties", before, after, where);
    for (const name of CONDITIONS)
      if (JSON.stringify(before[name]) !== JSON.stringify(after[name]))
        this.add("alternatives-changed", true, where, `${name} changed`);
  }

  /** Returns whether the schemas have a type in common, so that their parts may be compared. */
  private compareTypes(before: JsonObject, after: JsonObject, where: string): boolean {
    const none = [before, after].map(takesNoValue);
    const [earlier, later] = [before, after].map((schema) => (takesNoValue(schema) ? ["none"] : listTypes(schema)));
    if (earlier === undefined || later === undefined || earlier.join() === later.join()) return !none.includes(true);
    const removed = later.length === 0 ? [] : earlier.filter((type) => type !== "none" && !accepts(later, type));
    const added = earlier.length === 0 ? [] : later.filter((type) => type !== "none" && !accepts(earlier, type));
    const isNarrower = removed.length > 0 || earlier.length === 0;
    const isWider = added.length > 0 || later.length === 0;
    this.add("type-changed", this.breaks(isNarrower, isWider), where, `${format(earlier)} became ${format(later)}`);
    return removed.length < earlier.length && !none.includes(true);
  }

  private compareValues(before: JsonObject, after: JsonObject, where: string): void {
    const [earlier, later] = [before, after].map(listValues);
    const removed = earlier?.filter((value) => later?.includes(value) === false) ?? [];
    const added = later?.filter((value) => earlier?.includes(value) === false) ?? [];
    const isNarrower = removed.length > 0 || (earlier === undefined && later !== undefined);
    const isWider = added.length > 0 || (earlier !== undefined && later === undefined);
    if (!isNarrower && !isWider) return;
    this.add("values-changed", this.breaks(isNarrower, isWider), where, `${format(earlier)} became ${format(later)}`);
  }

  private compareLimits(before: JsonObject, after: JsonObject, where: string): void {
    for (const name of [...LOWER_LIMITS, ...UPPER_LIMITS, ...FORMS]) {
      const [earlier, later] = [before[name], after[name]];
      if (earlier === later) continue;
      const isNumber = typeof earlier === "number" && typeof later === "number" && !FORMS.includes(name);
      const isNarrower = isNumber ? later > earlier === LOWER_LIMITS.includes(name) : later !== undefined;
      const isWider = FORMATS.includes(name) && earlier !== undefined;
      const what = `${name} was ${format(earlier)}, and is ${format(later)}`;
      this.add("limit-changed", this.breaks(isNarrower, isWider), where, what);
    }
  }

  private compareDefaults(before: JsonObject, after: JsonObject, where: string): void {
    const [earlier, later] = [before["default"], after["default"]].map((value) => JSON.stringify(value) ?? "none");
    if (earlier !== later) this.add("default-changed", false, where, `the default was ${earlier}, and is ${later}`);
  }

  /** Further members do not break a client that receives them. */
  private compareAdditional(before: unknown = true, after: unknown = true, where: string): void {
    if (isObject(before) && isObject(after)) return this.compare(before, after, `${where}.*`);
    const [earlier, later] = [before, after].map((each) =>
      each === false ? "none" : isObject(each) && !takesAnyValue(each) ? "some" : "any",
    );
    if (earlier === later) return;
    const isNarrower = earlier === "any" || later === "none";
    const what = `further members were ${earlier ?? ""}, and are ${later ?? ""}`;
    this.add("limit-changed", this.breaks(isNarrower, false), where, what);
  }

  /** A list or an object of schemas. */
  private compareEach(part: string, before: JsonObject, after: JsonObject, where: string): void {
    const [earlier, later] = [before[part] ?? {}, after[part] ?? {}];
    const names = new Set([...Object.keys(earlier), ...Object.keys(later)]);
    for (const name of names) this.compare(Reflect.get(earlier, name), Reflect.get(later, name), `${where}.${name}`);
  }

  private compareMembers(before: JsonObject, after: JsonObject, where: string): void {
    const [earlier, later] = [before, after].map(({ properties }) => toObject(properties));
    if (earlier === undefined || later === undefined) return;
    const [required, requires] = [listRequired(before), listRequired(after)];
    for (const name of new Set([...Object.keys(earlier), ...Object.keys(later), ...required, ...requires])) {
      const place = `${where}.${name}`;
      const [was, is] = [required.includes(name), requires.includes(name)];
      if (Object.hasOwn(earlier, name) === Object.hasOwn(later, name)) {
        this.compareRequired(place, was, is);
        if (Object.hasOwn(earlier, name)) this.compare(getMember(earlier, name), getMember(later, name), place);
      } else if (Object.hasOwn(later, name)) this.addMember(place, is);
      else {
        const isRefused = this.direction === "response" || after["additionalProperties"] === false;
        this.add("member-removed", isRefused, place, "it is missing");
      }
    }
  }

  private addMember(where: string, isRequired: boolean): void {
    const what = isRequired ? "it is new and required" : "it is new";
    this.add("member-added", this.direction === "request" && isRequired, where, what);
  }

  private compareRequired(where: string, was: boolean, is: boolean): void {
    if (was === is) return;
    const what = is ? "it became required" : "it became optional";
    this.add(is ? "member-required" : "member-optional", this.breaks(is, !is), where, what);
  }

  private compareAlternatives(before: JsonObject, after: JsonObject, where: string): void {
    const { before: earlierReader, after: laterReader } = this.readers;
    const read = {
      before: earlierReader.readSchema.bind(earlierReader),
      after: laterReader.readSchema.bind(laterReader),
    };
    const earlier = listAlternatives(before).filter((each) => !takesNoValue(read.before(each)));
    const later = listAlternatives(after).filter((each) => !takesNoValue(read.after(each)));
    const { pairs, removed, added } = pairAlternatives(earlier, later, read);
    for (const [one, other] of pairs) this.compare(one, other, where);
    if (removed.length + added.length === 0) return;
    const isNarrower = removed.length > 0 && !later.some((each) => takesAnyValue(read.after(each)));
    const isWider = added.length > 0 && !earlier.some((each) => takesAnyValue(read.before(each)));
    const what = `of ${earlier.length} alternatives ${removed.length} are missing, and ${added.length} are new`;
    this.add("alternatives-changed", this.breaks(isNarrower, isWider), where, what);
  }

  /** A request must not become narrower, and a response not wider. */
  private breaks(isNarrower: boolean, isWider: boolean): boolean {
    return this.direction === "request" ? isNarrower : isWider;
  }

  private add(kind: ChangeKind, isBreaking: boolean, where: string, what: string): void {
    this.changes.push({ kind, isBreaking, where, what });
  }
}

function accepts(types: readonly string[], type: string): boolean {
  return types.includes(type) || (type === "integer" && types.includes("number"));
}

function listRequired({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? required.map(String) : [];
}

function format(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return "any";
  return Array.isArray(value) ? value.join(" or ") : JSON.stringify(value);
}
