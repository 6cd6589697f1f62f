/**
 * The differences between two JSON Schemas, as a client sees them. A client sends values of a request, so a value that is refused from now on
 * breaks it. It receives values of a response, so a value that is new, and a member that is missing, break it.
 */
import { isObject, type JsonObject } from "./document.js";

export type ChangeKind =
  | "alternatives-changed"
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

/** Finds the object that a local reference names. */
export type FollowReference = (schema: unknown) => JsonObject;

/** Schemas may contain themselves. */
const MAX_DEPTH = 16;

const LOWER_LIMITS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER_LIMITS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
const FORMS = ["format", "pattern", "contentMediaType", "multipleOf"];

export class SchemaComparison {
  readonly changes: ApiChange[] = [];

  constructor(
    private readonly direction: Direction,
    private readonly follow: { readonly before: FollowReference; readonly after: FollowReference },
  ) {}

  compare(given: unknown, opposite: unknown, where: string, depth = 0): void {
    const before = this.follow.before(given);
    const after = this.follow.after(opposite);
    if (depth > MAX_DEPTH) return;
    this.compareTypes(before, after, where);
    this.compareValues(before, after, where);
    this.compareLimits(before, after, where);
    this.compareMembers(before, after, where, depth);
    this.compareAlternatives(before, after, where, depth);
    for (const part of ["items", "additionalProperties"])
      if (isObject(before[part]) && isObject(after[part]))
        this.compare(before[part], after[part], `${where}.${part === "items" ? "0" : "*"}`, depth + 1);
  }

  private compareTypes(before: JsonObject, after: JsonObject, where: string): void {
    const [earlier, later] = [before, after].map(listTypes);
    if (earlier === undefined || later === undefined || earlier.join() === later.join()) return;
    const removed = later.length === 0 ? [] : earlier.filter((type) => !accepts(later, type));
    const added = earlier.length === 0 ? [] : later.filter((type) => !accepts(earlier, type));
    const isNarrower = removed.length > 0 || earlier.length === 0;
    const isWider = added.length > 0 || later.length === 0;
    this.add("type-changed", this.breaks(isNarrower, isWider), where, `${format(earlier)} became ${format(later)}`);
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
      const isBreaking = this.direction === "request" && isNarrower;
      this.add("limit-changed", isBreaking, where, `${name} was ${format(earlier)}, and is ${format(later)}`);
    }
  }

  private compareMembers(before: JsonObject, after: JsonObject, where: string, depth: number): void {
    const [earlier, later] = [before, after].map(({ properties }) => (isObject(properties) ? properties : {}));
    if (earlier === undefined || later === undefined) return;
    const [required, requires] = [before, after].map((each) => listRequired(each));
    for (const [name, schema] of Object.entries(earlier)) {
      const place = `${where}.${name}`;
      if (!(name in later)) {
        const isRefused = this.direction === "response" || after["additionalProperties"] === false;
        this.add("member-removed", isRefused, place, "it is missing");
        continue;
      }
      this.compareRequired(place, required?.includes(name) === true, requires?.includes(name) === true);
      this.compare(schema, later[name], place, depth + 1);
    }
    for (const name of Object.keys(later).filter((each) => !(each in earlier))) {
      const isRequired = requires?.includes(name) === true;
      const what = isRequired ? "it is new and required" : "it is new";
      this.add("member-added", this.direction === "request" && isRequired, `${where}.${name}`, what);
    }
  }

  private compareRequired(where: string, was: boolean, is: boolean): void {
    if (was === is) return;
    const what = is ? "it became required" : "it became optional";
    this.add(is ? "member-required" : "member-optional", this.breaks(is, !is), where, what);
  }

  private compareAlternatives(before: JsonObject, after: JsonObject, where: string, depth: number): void {
    for (const name of ["anyOf", "oneOf", "allOf"]) {
      const [earlier, later] = [before[name], after[name]].map((each): readonly unknown[] =>
        Array.isArray(each) ? each : [],
      );
      if (earlier === undefined || later === undefined) continue;
      if (earlier.length === later.length)
        for (const [at, each] of earlier.entries()) this.compare(each, later[at], where, depth + 1);
      else {
        const isMore = later.length > earlier.length;
        const isWider = name === "allOf" ? !isMore : isMore;
        const what = `${name} had ${earlier.length} schemas, and has ${later.length}`;
        this.add("alternatives-changed", this.breaks(!isWider, isWider), where, what);
      }
    }
  }

  /** A request must not become narrower, and a response not wider. */
  private breaks(isNarrower: boolean, isWider: boolean): boolean {
    return this.direction === "request" ? isNarrower : isWider;
  }

  private add(kind: ChangeKind, isBreaking: boolean, where: string, what: string): void {
    this.changes.push({ kind, isBreaking, where, what });
  }
}

function listTypes({ type }: JsonObject): readonly string[] {
  const types: readonly unknown[] = [type ?? []].flat();
  return types.map(String).toSorted();
}

function accepts(types: readonly string[], type: string): boolean {
  return types.includes(type) || (type === "integer" && types.includes("number"));
}

/** The values as JSON; `undefined` for a schema that takes any. */
function listValues({ const: constant, enum: values }: JsonObject): readonly string[] | undefined {
  if (constant !== undefined) return [JSON.stringify(constant)];
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : undefined;
}

function listRequired({ required }: JsonObject): readonly unknown[] {
  return Array.isArray(required) ? required : [];
}

function format(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return "any";
  return Array.isArray(value) ? value.join(" or ") : JSON.stringify(value);
}
