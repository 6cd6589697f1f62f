/**
 * The state that the JSON log keeps for a span: its path, and its fields as they were when they were recorded. Events inside the span
 * inherit the fields of all spans around them; an inner span's field replaces an outer span's field of the same name.
 */
import type { Fields } from "../../tracing/subscriber.js";
import type { FieldWriter } from "./json-fields.js";
import type { InheritedFields, KeyList } from "./json-key-cache.js";
import { isOmitted } from "./json-object.js";
import { flatten, toJsonString } from "./json-text.js";

/** Child names that one path remembers. A program that makes up more names pays for each of them every time. */
const MAX_CHILDREN = 256;

/**
 * The names of the spans around an event, outermost first, as the line shows them. Paths are remembered as a tree, because a program opens
 * spans of the same few names for every request.
 */
export class SpanPath {
  /** The member `spans` of a line. */
  readonly spans: string;
  /** The same, after a string that still lacks its closing quotation mark. */
  readonly spansAfterString: string;
  private readonly children = new Map<string, SpanPath>();

  private constructor(private readonly names: string) {
    this.spans = names === "" ? "" : flatten(`,"spans":[${names}]`);
    this.spansAfterString = flatten(`"${this.spans}`);
  }

  /** The path outside any span. */
  static root(): SpanPath {
    return new SpanPath("");
  }

  /** The path of a span called `name` inside this one. */
  child(name: string): SpanPath {
    return this.children.get(name) ?? this.add(name);
  }

  private add(name: string): SpanPath {
    const path = new SpanPath(this.names === "" ? toJsonString(name) : `${this.names},${toJsonString(name)}`);
    if (this.children.size < MAX_CHILDREN) this.children.set(name, path);
    return path;
  }
}

/** The fields of a span and of all spans around it. */
interface FoldedFields extends InheritedFields {
  /** The keys of `values`, in their order. */
  readonly list: KeyList;
}

export class SpanFields {
  readonly path: SpanPath;
  private readonly writer: FieldWriter;
  private readonly parent: SpanFields | undefined;
  private fields: Fields;
  private folded: FoldedFields | undefined;
  // `folded` is computed again when one of these two changes.
  private root: KeyList | undefined;
  private outer: FoldedFields | undefined;

  constructor(writer: FieldWriter, parent: SpanFields | undefined, path: SpanPath, fields: Fields) {
    this.writer = writer;
    this.parent = parent;
    this.path = path;
    this.fields = freezeFields(writer, fields);
  }

  /** @param fields All fields of the span, not only the added ones. */
  record(fields: Fields): void {
    this.fields = freezeFields(this.writer, fields);
    this.folded = undefined;
  }

  fold(): FoldedFields {
    const outer = this.parent?.fold();
    const { root } = this.writer.keyCache;
    if (this.folded !== undefined && this.outer === outer && this.root === root) return this.folded;
    this.outer = outer;
    this.root = root;
    return (this.folded = this.foldOnto(outer, root));
  }

  private foldOnto(outer: FoldedFields | undefined, root: KeyList): FoldedFields {
    const values = outer === undefined ? [] : [...outer.values];
    let list = outer === undefined ? root : outer.list;
    for (const key in this.fields) {
      const value = this.fields[key];
      if (isOmitted(value)) continue;
      const index = list.keys.indexOf(key);
      if (index < 0) list = list.plus(key);
      values[index < 0 ? values.length : index] = value;
    }
    return { list, values, keys: list.asInherited() };
  }
}

// Objects are written now, so that later changes to them do not show. The fields object itself is a copy that only the span uses.
function freezeFields(writer: FieldWriter, fields: Fields): Fields {
  if (!hasUnfrozenValue(fields)) return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, writer.freeze(name, value)]));
}

function hasUnfrozenValue(fields: Fields): boolean {
  for (const name in fields) if (isUnfrozen(fields[name])) return true;
  return false;
}

// A value that JSON omits counts, too: under a sensitive name it becomes the redaction marker.
function isUnfrozen(value: unknown): boolean {
  return (typeof value === "object" && value !== null) || isOmitted(value);
}
