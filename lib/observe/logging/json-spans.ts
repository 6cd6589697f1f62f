/**
 * What the JSON log keeps for a span: its fields as they were when it was opened or recorded on, and, from the first
 * event on, what the events inside it inherit: names outermost first, fields with those of a nested span beating those
 * of its parents.
 */
import type { Fields } from "../../tracing/subscriber.js";
import type { FieldWriter } from "./json-fields.js";
import { type InheritedFields, type KeyList, isOmitted } from "./json-keys.js";
import type { SpanPath } from "./json-text.js";

/** What an event inside a span inherits. */
interface FoldedFields extends InheritedFields {
  /** The keys of the values, in their order; what is inherited begins at its border. */
  readonly list: KeyList;
}

export class SpanFields {
  readonly path: SpanPath;
  readonly #writer: FieldWriter;
  readonly #parent: SpanFields | undefined;
  #fields: Fields;
  #folded: FoldedFields | undefined;
  // What `#folded` was made of: it is made anew when either is another.
  #root: KeyList | undefined;
  #above: FoldedFields | undefined;

  constructor(writer: FieldWriter, parent: SpanFields | undefined, name: string, fields: Fields) {
    this.#writer = writer;
    this.#parent = parent;
    this.path = (parent?.path ?? writer.outside).below(name);
    this.#fields = frozen(writer, fields);
  }

  /** All fields of the span, later ones included. */
  record(fields: Fields): void {
    this.#fields = frozen(this.#writer, fields);
    this.#folded = undefined;
  }

  fold(): FoldedFields {
    const above = this.#parent?.fold();
    const { root } = this.#writer.shapes;
    if (this.#folded !== undefined && this.#above === above && this.#root === root) return this.#folded;
    this.#above = above;
    this.#root = root;
    return (this.#folded = this.#foldOnto(above, root));
  }

  #foldOnto(above: FoldedFields | undefined, root: KeyList): FoldedFields {
    const values = above === undefined ? [] : [...above.values];
    let list = above === undefined ? root : above.list;
    for (const key in this.#fields) {
      const value = this.#fields[key];
      if (isOmitted(value)) continue;
      const index = list.keys.indexOf(key);
      if (index < 0) list = list.plus(key);
      values[index < 0 ? values.length : index] = value;
    }
    return { list, values, start: list.border() };
  }
}

// Later changes to an object must not show, so objects are written now. The fields themselves are the facade's own copy.
function frozen(writer: FieldWriter, fields: Fields): Fields {
  if (!isAnyLoose(fields)) return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, writer.freeze(name, value)]));
}

function isAnyLoose(fields: Fields): boolean {
  for (const name in fields) if (isLoose(fields[name])) return true;
  return false;
}

function isLoose(value: unknown): boolean {
  return (typeof value === "object" && value !== null) || isOmitted(value);
}
