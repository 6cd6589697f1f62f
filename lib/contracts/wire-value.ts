/**
 * The texts of a URL, of headers and of forms as the values that their schema takes. A text has one form: a number is decimal, a boolean is
 * `true` or `false`, a list is a repeated name. The JSON Schema of the part says which is meant; nothing is guessed. A schema that takes a
 * text gets the text. A number that JavaScript would round is refused, and so is an empty text.
 *
 * The conversion is compiled once, when the application is built.
 *
 * @example
 * const convert = compileWireValue({ type: "object", properties: { page: { type: "integer" } } });
 * convert({ page: "2" }, [], faults); // { page: 2 }
 */
import type { SchemaIssue } from "../runtime/standard-schema.js";
import { type JsonSchema, resolve } from "./json-schema.js";

export type WirePath = readonly string[];

/** Returns the converted value, and adds an issue for each text that has not the form of its type. */
export type WireConverter = (value: unknown, path: WirePath, faults: SchemaIssue[]) => unknown;

/** Converts nothing. */
export const keepTexts: WireConverter = (value) => value;

export function compileWireValue(schema: JsonSchema): WireConverter {
  return new Compiler(schema).compile(schema);
}

class Compiler {
  /** Schemas may contain themselves. */
  private readonly compiled = new Map<JsonSchema, WireConverter>();

  constructor(private readonly root: JsonSchema) {}

  compile(given: JsonSchema): WireConverter {
    const schema = resolve(given, this.root);
    const known = this.compiled.get(schema);
    if (known !== undefined) return known;
    let convert = keepTexts;
    this.compiled.set(schema, (value, path, faults) => convert(value, path, faults));
    convert = this.create(this.listAlternatives(schema));
    return convert;
  }

  private create(alternatives: readonly JsonSchema[]): WireConverter {
    const types = new Set(alternatives.flatMap(listTypes));
    const convertText = createTextConverter(types);
    const convertItem = this.compileItems(alternatives);
    const convertMember = this.compileMembers(alternatives);
    return (value, path, faults) => {
      if (typeof value === "string")
        return convertText === undefined && types.has("array") && !types.has("string")
          ? [convertItem(value, [...path, "0"], faults)]
          : (convertText?.(value, path, faults) ?? value);
      if (Array.isArray(value)) return value.map((item, at) => convertItem(item, [...path, String(at)], faults));
      return isFields(value) ? convertMember(value, path, faults) : value;
    };
  }

  /** The schemas of which a value has to fit one, or with `allOf` each. */
  private listAlternatives(schema: JsonSchema, depth = 0): readonly JsonSchema[] {
    const { anyOf = [], oneOf = [], allOf = [] } = schema;
    const nested = depth < MAX_NESTING ? [...anyOf, ...oneOf, ...allOf] : [];
    const resolved = nested.flatMap((each) => this.listAlternatives(resolve(each, this.root), depth + 1));
    return [schema, ...resolved];
  }

  private compileItems(alternatives: readonly JsonSchema[]): WireConverter {
    const items = alternatives.map((each) => each.items).find((each) => typeof each === "object");
    return items === undefined ? keepTexts : this.compile(items);
  }

  private compileMembers(alternatives: readonly JsonSchema[]): WireConverter {
    const members = new Map<string, WireConverter>();
    for (const { properties = {} } of alternatives.toReversed())
      for (const [name, member] of Object.entries(properties)) members.set(name, this.compile(member));
    const rest = alternatives.map((each) => each.additionalProperties).find((each) => typeof each === "object");
    const convertOther = rest === undefined ? keepTexts : this.compile(rest);
    return (value, path, faults) => {
      const fields = Object.create(null) as Record<string, unknown>;
      for (const [name, field] of Object.entries(value as object))
        fields[name] = (members.get(name) ?? convertOther)(field, [...path, name], faults);
      return fields;
    };
  }
}

/** The limit for alternatives inside alternatives, which may contain themselves. */
const MAX_NESTING = 8;

function isFields(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null;
}

/** The types that a schema names, directly or by its values. */
function listTypes({ type, const: constant, enum: values = [] }: JsonSchema): readonly string[] {
  if (type !== undefined) return typeof type === "string" ? [type] : type;
  return [...(constant === undefined ? [] : [constant]), ...values].map((value) => typeof value);
}

/** `undefined` for types of which a text has none, or is one itself. */
function createTextConverter(types: ReadonlySet<string>): WireConverter | undefined {
  if (types.has("string")) return undefined;
  const readers = [...types].flatMap((type) => TEXT_READERS.get(type) ?? []);
  if (readers.length === 0) return undefined;
  const message = `Expected ${readers.map(({ expected }) => expected).join(" or ")}.`;
  return (value, path, faults) => {
    for (const { read } of readers) {
      const converted = read(value as string);
      if (converted !== undefined) return converted;
    }
    faults.push({ message, path });
    return value;
  };
}

interface TextReader {
  readonly expected: string;
  /** Returns `undefined` for a text that has not the form. */
  readonly read: (text: string) => number | boolean | undefined;
}

const TEXT_READERS: ReadonlyMap<string, TextReader> = new Map([
  ["integer", { expected: "a whole number", read: readWhole }],
  ["number", { expected: "a number", read: readNumber }],
  ["boolean", { expected: "true or false", read: readBoolean }],
]);

const WHOLE = /^-?(?:0|[1-9]\d*)$/;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;

/** Every decimal with this number of digits is a different number. */
const MAX_DIGITS = 15;

function readWhole(text: string): number | undefined {
  const value = WHOLE.test(text) ? Number(text) : undefined;
  return Number.isSafeInteger(value) ? value : undefined;
}

function readNumber(text: string): number | undefined {
  if (WHOLE.test(text)) return readWhole(text);
  if (!DECIMAL.test(text)) return undefined;
  const digits = text.replace(/[eE].*$/, "").replace(/^[-0.]+|\.|-/g, "");
  const value = Number(text);
  return digits.length <= MAX_DIGITS && Number.isFinite(value) ? value : undefined;
}

function readBoolean(text: string): boolean | undefined {
  return text === "true" ? true : text === "false" ? false : undefined;
}
