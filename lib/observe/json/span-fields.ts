/**
 * What the JSON log keeps for a span: its fields as they were when it was opened or recorded on, and, from the first
 * event on, what the events inside it inherit: names outermost first, fields with those of a nested span beating those
 * of its parents.
 */
import type { Fields } from "../../kernel/tracing-port.js";
import type { FieldWriter } from "./field-writer.js";
import type { Inherited, KeyList } from "./key-shapes.js";
import { isOmitted } from "./key-slot.js";
import { jsonText, oneText } from "./text.js";

/** What an event inside a span inherits. */
export interface Folded extends Inherited {
  readonly keys: readonly string[];
  /** The names of the spans as the elements of a JSON array, outermost first. */
  readonly names: string;
  /** The member they make of the line, and the same after a string that still lacks its closing quotation mark. */
  readonly spans: string;
  readonly spansAfterString: string;
}

export class SpanFields {
  readonly #writer: FieldWriter;
  readonly #parent: SpanFields | undefined;
  readonly #name: string;
  #fields: Fields;
  #folded: Folded | undefined;
  // What `#folded` was made of: it is made anew when either is another.
  #root: KeyList | undefined;
  #above: Folded | undefined;

  constructor(writer: FieldWriter, parent: SpanFields | undefined, name: string, fields: Fields) {
    this.#writer = writer;
    this.#parent = parent;
    this.#name = name;
    this.#fields = frozen(writer, fields);
  }

  /** All fields of the span, later ones included. */
  record(fields: Fields): void {
    this.#fields = frozen(this.#writer, fields);
    this.#folded = undefined;
  }

  fold(): Folded {
    const above = this.#parent?.fold();
    const { root } = this.#writer.shapes;
    if (this.#folded !== undefined && this.#above === above && this.#root === root) return this.#folded;
    this.#above = above;
    this.#root = root;
    return (this.#folded = this.#foldOnto(above, root));
  }

  #foldOnto(above: Folded | undefined, root: KeyList): Folded {
    const keys = [...(above?.keys ?? [])];
    const values = [...(above?.values ?? [])];
    for (const key in this.#fields) {
      const value = this.#fields[key];
      if (!isOmitted(value)) put(keys, values, key, value);
    }
    const start = keys.reduce((list, key) => list.plus(key), root).border();
    const name = jsonText(this.#name);
    const names = above === undefined ? name : `${above.names},${name}`;
    const spans = oneText(`,"spans":[${names}]`);
    return { keys, values, start, names, spans, spansAfterString: oneText(`"${spans}`) };
  }
}

function put(keys: string[], values: unknown[], key: string, value: unknown): void {
  const index = keys.indexOf(key);
  if (index < 0) keys.push(key);
  values[index < 0 ? keys.length - 1 : index] = value;
}

// Later changes to an object must not show, so objects are written now. The fields themselves are the facade's own copy.
function frozen(writer: FieldWriter, fields: Fields): Fields {
  if (!Object.values(fields).some(isLoose)) return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, writer.freeze(name, value)]));
}

function isLoose(value: unknown): boolean {
  return (typeof value === "object" && value !== null) || isOmitted(value);
}
