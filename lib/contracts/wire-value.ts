/**
 * The texts of a URL, of headers and of forms as the values that their schema takes. A text has one form: a number is decimal, a boolean is
 * `true` or `false`, a list is a repeated name. The JSON Schema of the part says which is meant; nothing is guessed. A schema that takes a
 * text gets the text; constants take their texts alone, and choose between alternatives. A number that JavaScript would round is refused,
 * and so is an empty text.
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
    convert = this.create(schema);
    return convert;
  }

  private create(schema: JsonSchema): WireConverter {
    const alternatives = this.listAlternatives(schema);
    const convertItem = this.compileItems(alternatives);
    const isList = alternatives.some((each) => listTypes(each).includes("array"));
    const convertText = createTextConverter(
      alternatives,
      isList ? (value, path, faults) => [convertItem(0, value, path, faults)] : keepTexts,
    );
    const shape = this.createShape(schema);
    return (value, path, faults) => {
      if (typeof value === "string") return convertText(value, path, faults);
      if (Array.isArray(value)) return value.map((item, at) => convertItem(at, item, path, faults));
      return isFields(value) ? convertFields(shape, value, path, faults) : value;
    };
  }

  /** The schemas of which a value has to fit one, or with `allOf` each. */
  private listAlternatives(schema: JsonSchema, depth = 0): readonly JsonSchema[] {
    const { anyOf = [], oneOf = [], allOf = [] } = schema;
    const nested = depth < MAX_NESTING ? [...anyOf, ...oneOf, ...allOf] : [];
    const resolved = nested.flatMap((each) => this.listAlternatives(resolve(each, this.root), depth + 1));
    return [schema, ...resolved];
  }

  private compileItems(alternatives: readonly JsonSchema[]): ItemConverter {
    const lists = alternatives.map(({ prefixItems = [], items }) => ({
      first: prefixItems.map((each) => this.compileMember(each)),
      rest: this.compileRest(items),
    }));
    return (at, item, path, faults) => {
      const members = lists.flatMap(({ first, rest }) => first[at] ?? rest ?? []);
      return convertByOne(members, item, [...path, String(at)], faults);
    };
  }

  private createShape(schema: JsonSchema, depth = 0): WireShape {
    const { properties = {}, additionalProperties, anyOf, oneOf, allOf } = schema;
    const members = Object.entries(properties);
    const createEach = (schemas: readonly JsonSchema[] = []): readonly WireShape[] =>
      depth < MAX_NESTING ? schemas.map((each) => this.createShape(resolve(each, this.root), depth + 1)) : [];
    return {
      members: new Map(members.map(([name, member]) => [name, this.compileMember(member)])),
      rest: this.compileRest(additionalProperties),
      constants: members.flatMap(([name, member]) => {
        const constants = this.listConstants(member);
        return constants === undefined ? [] : [[name, new Set(constants.map(String))]];
      }),
      all: createEach(allOf),
      choices: [createEach(anyOf), createEach(oneOf)].filter(({ length }) => length > 0),
    };
  }

  private compileRest(schema: JsonSchema | boolean | undefined): WireMember | undefined {
    return typeof schema === "object" ? this.compileMember(schema) : undefined;
  }

  private compileMember(schema: JsonSchema): WireMember {
    const takesText = this.listAlternatives(resolve(schema, this.root)).some(takesAnyText);
    return { convert: this.compile(schema), takesText };
  }

  /** All values of a schema; `undefined` where it takes others than its constants. */
  private listConstants(given: JsonSchema, depth = 0): readonly unknown[] | undefined {
    const schema = resolve(given, this.root);
    const constants = listOwnConstants(schema);
    const { anyOf = [], oneOf = [] } = schema;
    const alternatives = [...anyOf, ...oneOf];
    if (constants.length > 0) return constants;
    if (alternatives.length === 0 || depth > MAX_NESTING) return undefined;
    const found = alternatives.map((each) => this.listConstants(each, depth + 1));
    return found.every((each) => each !== undefined) ? found.flat() : undefined;
  }
}

/** The limit for alternatives inside alternatives, which may contain themselves. */
const MAX_NESTING = 8;

type ItemConverter = (at: number, item: unknown, path: WirePath, faults: SchemaIssue[]) => unknown;

interface WireMember {
  readonly convert: WireConverter;
  readonly takesText: boolean;
}

/** The members of one schema, and the schemas inside it. */
interface WireShape {
  readonly members: ReadonlyMap<string, WireMember>;
  readonly rest: WireMember | undefined;
  /** The texts of members that have no other value. */
  readonly constants: readonly (readonly [name: string, texts: ReadonlySet<string>])[];
  readonly all: readonly WireShape[];
  /** A value fits one of each. */
  readonly choices: readonly (readonly WireShape[])[];
}

type WireFields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is WireFields {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null;
}

/** Converts nothing where the constants of no alternative fit: the schema names the fault. */
function convertFields(shape: WireShape, value: WireFields, path: WirePath, faults: SchemaIssue[]): unknown {
  const shapes = listFitting(shape, value) ?? [];
  const converted = Object.create(null) as Record<string, unknown>;
  for (const [name, field] of Object.entries(value)) {
    const members = shapes.flatMap(({ members: byName, rest }) => byName.get(name) ?? rest ?? []);
    converted[name] = convertByOne(members, field, [...path, name], faults);
  }
  return converted;
}

/** The schemas that the constants in the value choose; `undefined` where they refuse it. */
function listFitting(shape: WireShape, value: WireFields): readonly WireShape[] | undefined {
  const differs = shape.constants.some(([name, texts]) => {
    const field = value[name];
    return typeof field === "string" && !texts.has(field);
  });
  if (differs) return undefined;
  const all = shape.all.map((each) => listFitting(each, value));
  const chosen = shape.choices.map((choice) => choice.flatMap((each) => listFitting(each, value) ?? []));
  if (all.includes(undefined) || chosen.some(({ length }) => length === 0)) return undefined;
  return [shape, ...all.flatMap((each) => each ?? []), ...chosen.flat()];
}

/** Converts by the member that takes any text, or by the first that has no fault. */
function convertByOne(members: readonly WireMember[], value: unknown, path: WirePath, faults: SchemaIssue[]): unknown {
  if (members.length < 2) return members[0] === undefined ? value : members[0].convert(value, path, faults);
  const missed: SchemaIssue[][] = [];
  for (const { convert } of members.toSorted((one, other) => Number(other.takesText) - Number(one.takesText))) {
    const found: SchemaIssue[] = [];
    const converted = convert(value, path, found);
    if (found.length === 0) return converted;
    missed.push(found);
  }
  faults.push(...(missed[0] ?? []));
  return value;
}

function listOwnConstants({ const: constant, enum: values = [] }: JsonSchema): readonly unknown[] {
  return constant === undefined ? values : [constant];
}

/** The types that a schema names, directly or by its values. */
function listTypes(schema: JsonSchema): readonly string[] {
  return [schema.type ?? listOwnConstants(schema).map((value) => typeof value)].flat();
}

function takesAnyText(schema: JsonSchema): boolean {
  return listTypes(schema).includes("string") && listOwnConstants(schema).length === 0;
}

/** @param convertOther converts a text where no type has another form */
function createTextConverter(alternatives: readonly JsonSchema[], convertOther: WireConverter): WireConverter {
  if (alternatives.some(takesAnyText)) return keepTexts;
  const texts = new Set(alternatives.flatMap(listOwnConstants).filter((value) => typeof value === "string"));
  const types = new Set(alternatives.flatMap(listTypes));
  const readers = [...types].flatMap((type) => TEXT_READERS.get(type) ?? []);
  const expected = [...[...texts].map((text) => JSON.stringify(text)), ...readers.map((each) => each.expected)];
  const message = `Expected ${expected.join(" or ")}.`;
  return (value, path, faults) => {
    const text = value as string;
    if (texts.has(text)) return text;
    if (readers.length === 0) return convertOther(text, path, faults);
    for (const { read } of readers) {
      const converted = read(text);
      if (converted !== undefined) return converted;
    }
    faults.push({ message, path });
    return text;
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

function readWhole(text: string): number | undefined {
  const value = WHOLE.test(text) ? Number(text) : undefined;
  return Number.isSafeInteger(value) ? value : undefined;
}

/** A number that is not rounded has the digits of its shortest form, which JavaScript writes, and zeros. */
function readNumber(text: string): number | undefined {
  const value = DECIMAL.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(value)) return undefined;
  const digits = getDigits(text);
  const minimum = getDigits(value.toExponential());
  return digits.startsWith(minimum) && /^0*$/.test(digits.slice(minimum.length)) ? value : undefined;
}

/** The digits from the first that is not zero, without the exponent. */
function getDigits(text: string): string {
  return text.replace(/[eE].*$/, "").replace(/^[-0.]+|\.|-/g, "");
}

function readBoolean(text: string): boolean | undefined {
  return text === "true" ? true : text === "false" ? false : undefined;
}
