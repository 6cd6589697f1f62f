/**
 * Writes any value as JSON. The result is always valid and complete down to the maximum depth. It never throws.
 */
import { types } from "node:util";
import { findHttpMessageFields, toSpecialValue } from "./json-special-values.js";
import { toJsonString } from "./json-text.js";

const MAX_DEPTH = 64;
/** Objects in one field. Shared references can unfold to more text than any memory holds. */
const MAX_OBJECTS = 1 << 20;
/** An array longer than this is checked for holes before its elements are read. */
const MAX_UNCHECKED_LENGTH = 1 << 20;

export const UNREADABLE = '"[unreadable]"';
const CIRCULAR = '"[circular]"';
const TOO_DEEP = '"[too deep]"';

/** The path from a field down to the object that is being written. It bounds cycles, depth and the number of objects. */
export class FieldTraversal {
  private readonly path: object[] = [];
  private depth = 0;
  private objects = 0;

  /** Goes one level down. If `value` must not be entered, returns the JSON to write instead. Each successful `enter` has its `leave`. */
  enter(value: object): string | undefined {
    const refusal = this.depth >= MAX_DEPTH && !this.path.includes(value) ? TOO_DEEP : this.enterSameLevel(value);
    if (refusal === undefined) this.depth++;
    return refusal;
  }

  leave(): void {
    this.depth--;
    this.leaveSameLevel();
  }

  /** As `enter`, without going down: for the result of `toJSON`, which takes the place of its object. */
  enterSameLevel(value: object): string | undefined {
    if (this.path.length > 0 && this.path.includes(value)) return CIRCULAR;
    if (++this.objects > MAX_OBJECTS) return UNREADABLE;
    this.path.push(value);
    return undefined;
  }

  leaveSameLevel(): void {
    this.path.pop();
  }
}

/** Text that is JSON already and is written as it is. */
export class RawJson {
  readonly #json: string;

  constructor(json: string) {
    this.#json = json;
  }

  /** The text, if `value` is a `RawJson`. The check does not touch the value, which may be a proxy. */
  static of(value: object): string | undefined {
    return #json in value ? value.#json : undefined;
  }
}

/** Writes objects that have keys. `FieldWriter` implements it, because it redacts by key. */
export interface ObjectWriter {
  /** Writes the own enumerable members. */
  object(fields: object, traversal: FieldTraversal): string;
  /** Writes the entries as members. A later entry replaces an earlier one of the same name. */
  entries(entries: readonly (readonly [name: string, value: unknown])[], traversal: FieldTraversal): string;
}

export class ValueWriter {
  private readonly objects: ObjectWriter;

  constructor(objects: ObjectWriter) {
    this.objects = objects;
  }

  /** The JSON; `undefined` for values that JSON omits. */
  write(value: unknown, traversal?: FieldTraversal): string | undefined {
    switch (typeof value) {
      case "string":
        return toJsonString(value);
      case "number":
        return Number.isFinite(value) ? `${value}` : "null";
      case "boolean":
      case "bigint":
        return `${value}`;
      case "object":
        return value === null ? "null" : this.object(value, traversal ?? new FieldTraversal());
      default:
        return undefined;
    }
  }

  private object(value: object, traversal: FieldTraversal): string | undefined {
    try {
      const isOrdinary = isPlainObjectOrArray(value);
      const special = isOrdinary ? undefined : this.special(value, traversal);
      return special ?? traversal.enter(value) ?? this.entered(value, traversal, isOrdinary);
    } catch {
      return UNREADABLE;
    }
  }

  private special(value: object, traversal: FieldTraversal): string | undefined {
    const json = RawJson.of(value);
    if (json !== undefined) return json;
    const primitive = toSpecialValue(value, (cause) => this.write(cause, traversal) ?? UNREADABLE);
    return primitive === undefined ? undefined : this.write(primitive);
  }

  private entered(value: object, traversal: FieldTraversal, isOrdinary: boolean): string | undefined {
    try {
      const message = isOrdinary ? undefined : findHttpMessageFields(value);
      if (message !== undefined) return this.objects.object(message, traversal);
      // The member may have any type; the next line checks that it is a function.
      const { toJSON } = value as { readonly toJSON?: unknown };
      if (typeof toJSON === "function") return this.converted(value, toJSON.call(value, ""), traversal);
      return isOrdinary ? this.members(value, traversal) : this.container(value, traversal);
    } finally {
      traversal.leave();
    }
  }

  /** As with `JSON.stringify`, the `toJSON` of a result is not called again. */
  private converted(value: object, result: unknown, traversal: FieldTraversal): string | undefined {
    if (result === value) return this.container(value, traversal);
    if (typeof result !== "object" || result === null) return this.write(result);
    return this.special(result, traversal) ?? traversal.enterSameLevel(result) ?? this.result(result, traversal);
  }

  private result(result: object, traversal: FieldTraversal): string {
    try {
      const message = isPlainObjectOrArray(result) ? undefined : findHttpMessageFields(result);
      return this.container(message ?? result, traversal);
    } finally {
      traversal.leaveSameLevel();
    }
  }

  private container(value: object, traversal: FieldTraversal): string {
    if (types.isMap(value)) return this.objects.entries(listEntries(value), traversal);
    return types.isSet(value) ? this.array(listElements(value), traversal) : this.members(value, traversal);
  }

  // A sparse array is written as an object: a client can send an array of any length at no cost.
  private members(value: object, traversal: FieldTraversal): string {
    if (!Array.isArray(value)) return this.objects.object(value, traversal);
    const isSparse = value.length > MAX_UNCHECKED_LENGTH && Object.keys(value).length < value.length;
    return isSparse ? this.objects.object(value, traversal) : this.array(value, traversal);
  }

  private array(values: readonly unknown[], traversal: FieldTraversal): string {
    let text = "[";
    for (let i = 0; i < values.length; i++) text = text + (i === 0 ? "" : ",") + this.element(values, i, traversal);
    return `${text}]`;
  }

  private element(values: readonly unknown[], index: number, traversal: FieldTraversal): string {
    try {
      // A value that an object would omit keeps its index in an array.
      return this.write(values[index], traversal) ?? "null";
    } catch {
      return UNREADABLE;
    }
  }
}

/** True for objects that need none of the special cases. */
function isPlainObjectOrArray(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}

// Calls the methods of the class itself, because a subclass may override them.
function listEntries(map: ReadonlyMap<unknown, unknown>): (readonly [string, unknown])[] {
  const entries: (readonly [string, unknown])[] = [];
  Map.prototype.forEach.call(map, (value: unknown, key: unknown) => entries.push([toMemberName(key), value]));
  return entries;
}

function listElements(set: ReadonlySet<unknown>): unknown[] {
  const elements: unknown[] = [];
  Set.prototype.forEach.call(set, (element: unknown) => elements.push(element));
  return elements;
}

function toMemberName(key: unknown): string {
  try {
    return String(key);
  } catch {
    return "[unreadable]";
  }
}
