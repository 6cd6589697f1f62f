/**
 * Writes one value as JSON, whatever it is: something valid comes out, complete but for depth, and nothing is thrown.
 */
import { types } from "node:util";
import { leafOf, messageOf } from "./leaf-text.js";
import { jsonText } from "./text.js";
import { UNREADABLE, Walk } from "./walk.js";
import { Written } from "./written.js";

/** An array longer than this is looked at for holes before it is walked. */
const LONG = 1 << 20;

/** How objects with keys are written; the keys are the business of the field writer. */
export interface ObjectWriter {
  /** Own enumerable members. */
  object(fields: object, walk: Walk): string;
  /** The same for keys and values that come from elsewhere; a later entry for the same key wins. */
  entries(entries: readonly (readonly [name: string, value: unknown])[], walk: Walk): string;
}

export class ValueWriter {
  readonly #objects: ObjectWriter;

  constructor(objects: ObjectWriter) {
    this.#objects = objects;
  }

  /** The JSON; `undefined` for what is omitted. */
  write(value: unknown, walk?: Walk): string | undefined {
    switch (typeof value) {
      case "string":
        return jsonText(value);
      case "number":
        return Number.isFinite(value) ? `${value}` : "null";
      case "boolean":
      case "bigint":
        return `${value}`;
      case "object":
        return value === null ? "null" : this.#object(value, walk ?? new Walk());
      default:
        return undefined;
    }
  }

  #object(value: object, walk: Walk): string | undefined {
    try {
      const common = isCommon(value);
      const leaf = common ? undefined : this.#leaf(value, walk);
      return leaf ?? walk.enter(value) ?? this.#container(value, walk, common);
    } catch {
      return UNREADABLE;
    }
  }

  #leaf(value: object, walk: Walk): string | undefined {
    const written = Written.of(value);
    if (written !== undefined) return written;
    const leaf = leafOf(value, (cause) => this.write(cause, walk) ?? UNREADABLE);
    return leaf === undefined ? undefined : this.write(leaf);
  }

  #container(value: object, walk: Walk, common: boolean): string | undefined {
    try {
      const message = common ? undefined : messageOf(value);
      if (message !== undefined) return this.#objects.object(message, walk);
      // Whether it is a function is what is being asked.
      const { toJSON } = value as { readonly toJSON?: unknown };
      if (typeof toJSON === "function") return this.#converted(value, toJSON.call(value, ""), walk);
      return common ? this.#common(value, walk) : this.#uncommon(value, walk);
    } finally {
      walk.leave();
    }
  }

  /** As with `JSON.stringify`, the answer of `toJSON` is written as it is, without asking it for its own. */
  #converted(value: object, answer: unknown, walk: Walk): string | undefined {
    if (answer === value) return this.#uncommon(value, walk);
    if (typeof answer !== "object" || answer === null) return this.write(answer);
    return this.#leaf(answer, walk) ?? walk.enterBeside(answer) ?? this.#beside(answer, walk);
  }

  #beside(answer: object, walk: Walk): string {
    try {
      return this.#uncommon((isCommon(answer) ? undefined : messageOf(answer)) ?? answer, walk);
    } finally {
      walk.leaveBeside();
    }
  }

  #uncommon(value: object, walk: Walk): string {
    if (types.isMap(value)) return this.#objects.entries(entriesOf(value), walk);
    return types.isSet(value) ? this.#array(elementsOf(value), walk) : this.#common(value, walk);
  }

  // Of an array that is mostly holes, only what it has is written: its length may be any number at no cost to the sender.
  #common(value: object, walk: Walk): string {
    if (!Array.isArray(value)) return this.#objects.object(value, walk);
    const sparse = value.length > LONG && Object.keys(value).length < value.length;
    return sparse ? this.#objects.object(value, walk) : this.#array(value, walk);
  }

  #array(values: readonly unknown[], walk: Walk): string {
    let text = "[";
    for (let i = 0; i < values.length; i++) text = text + (i === 0 ? "" : ",") + this.#element(values, i, walk);
    return `${text}]`;
  }

  #element(values: readonly unknown[], index: number, walk: Walk): string {
    try {
      // What would be omitted as a member keeps its place in a list.
      return this.write(values[index], walk) ?? "null";
    } catch {
      return UNREADABLE;
    }
  }
}

/** Plain objects and arrays, which need no closer look. */
function isCommon(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}

// The methods of the class itself: those of a subclass may do anything.
function entriesOf(map: ReadonlyMap<unknown, unknown>): (readonly [string, unknown])[] {
  const entries: (readonly [string, unknown])[] = [];
  Map.prototype.forEach.call(map, (value: unknown, key: unknown) => entries.push([nameOf(key), value]));
  return entries;
}

function elementsOf(set: ReadonlySet<unknown>): unknown[] {
  const elements: unknown[] = [];
  Set.prototype.forEach.call(set, (element: unknown) => elements.push(element));
  return elements;
}

function nameOf(key: unknown): string {
  try {
    return String(key);
  } catch {
    return "[unreadable]";
  }
}
