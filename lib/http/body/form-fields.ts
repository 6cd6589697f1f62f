/**
 * The fields of a form or a query as lists and objects: `tags[]` and `files[0]` are lists, `user[name]` is an object, as browsers and the
 * Inertia client send them. An index gives only the order in its list. Other names, also `a.b` and `a[b`, are taken as they are. No object
 * has a prototype.
 */
import { ValidationError } from "../../errors/framework-error.js";
import { refusePrototypePath, PROTOTYPE } from "./prototype-names.js";

/** A field: its value, or a list where the name was repeated; with brackets in the name also lists and objects of fields. */
export type NestedValue<T> = T | readonly NestedValue<T>[] | { readonly [name: string]: NestedValue<T> };

export type NestedFields<T> = Readonly<Record<string, NestedValue<T>>>;

/** The fields of an urlencoded form, or of a query. */
export type FormFields = NestedFields<string>;

/** The maximum of brackets in a name. */
const MAX_BRACKETS = 8;
const BRACKETED = /^[^[\]]+(?:\[[^[\]]*\])+$/;
const INDEX = /^\d{1,15}$/;

/**
 * @throws BadRequestError for a name of the prototype; ValidationError for a name that another one contradicts, and for too many brackets
 */
export function nestFields<T>(fields: Iterable<readonly [name: string, value: T]>): NestedFields<T> {
  const root = new Field<T>();
  for (const [name, value] of fields) {
    const path = splitName(name);
    if (path.length > MAX_BRACKETS + 1)
      throw createFieldError(name, "too_deep", `has more than ${MAX_BRACKETS} brackets`);
    if (!root.add(path, 0, value))
      throw createFieldError(name, "contradiction", "is a value, a list and an object at once");
  }
  return root.toMembers();
}

/** Whether the field of this name needs no nesting. */
export function isPlainName(name: string): boolean {
  return name !== PROTOTYPE && !name.includes("[");
}

function splitName(name: string): readonly string[] {
  const path = BRACKETED.test(name) ? name.replaceAll("]", "").split("[") : [name];
  refusePrototypePath(path);
  return path;
}

function createFieldError(name: string, code: string, fault: string): ValidationError {
  return new ValidationError({ [name]: [{ code, message: `The field ${fault}.` }] });
}

/** A field during parsing. Its first name decides its kind, and every further name must agree. */
class Field<T> {
  private kind: "value" | "list" | "object" | undefined = undefined;
  private readonly values: T[] = [];
  private readonly children = new Map<string, Field<T>>();
  /** The element of `[]` that was added last. */
  private last: Field<T> | undefined = undefined;

  /** @returns false where the name contradicts an earlier one */
  add(path: readonly string[], at: number, value: T): boolean {
    const part = path[at];
    const kind = part === undefined ? "value" : at > 0 && isListPart(part) ? "list" : "object";
    this.kind ??= kind;
    if (this.kind !== kind) return false;
    if (part !== undefined) return this.getMember(path, at).add(path, at + 1, value);
    this.values.push(value);
    return true;
  }

  toMembers(): NestedFields<T> {
    const members = Object.create(null) as Record<string, NestedValue<T>>;
    for (const [name, field] of this.children) members[name] = field.toValue();
    return members;
  }

  private toValue(): NestedValue<T> {
    if (this.kind === "object") return this.toMembers();
    if (this.kind === "list") return this.sortElements().map((field) => field.toValue());
    const [first] = this.values;
    return this.values.length === 1 && first !== undefined ? first : this.values;
  }

  private getMember(path: readonly string[], at: number): Field<T> {
    const part = path[at] ?? "";
    if (part === "" && at > 0) return this.getElement(path, at + 1);
    const key = this.kind === "list" ? String(Number(part)) : part;
    const known = this.children.get(key) ?? new Field<T>();
    this.children.set(key, known);
    return known;
  }

  /** `rows[][a]=1&rows[][b]=2` is one element with both members. A new element starts with a name that the last element already has. */
  private getElement(path: readonly string[], at: number): Field<T> {
    if (this.last === undefined || this.last.hasPath(path, at)) {
      this.last = new Field<T>();
      this.children.set(`+${this.children.size}`, this.last);
    }
    return this.last;
  }

  private hasPath(path: readonly string[], at: number): boolean {
    const part = path[at];
    if (part === undefined) return true;
    return part !== "" && this.children.get(part)?.hasPath(path, at + 1) === true;
  }

  /** Sorts the elements by index; those of `[]` come last. */
  private sortElements(): readonly Field<T>[] {
    return [...this.children].toSorted(([one], [other]) => getOrder(one) - getOrder(other)).map(([, field]) => field);
  }
}

function getOrder(key: string): number {
  return key.startsWith("+") ? Number.MAX_SAFE_INTEGER : Number(key);
}

function isListPart(part: string): boolean {
  return part === "" || INDEX.test(part);
}
