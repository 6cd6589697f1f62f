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
import { type JsonSchema, listAllParts, resolve, toExpression } from "./json-schema.js";
import { listConstantSchemas, takesEveryType, TextFormReader, type TextForms } from "./text-forms.js";

export type WirePath = readonly string[];

/** Returns the converted value, and adds an issue for each text that has not the form of its type. */
export type WireConverter = (value: unknown, path: WirePath, faults: SchemaIssue[]) => unknown;

/** Converts nothing. */
export const keepTexts: WireConverter = (value) => value;

export function compileWireValue(schema: JsonSchema): WireConverter {
  return new Compiler(schema).run();
}

/** Schemas may contain themselves: as a member, and as an alternative or a part, where they add nothing. */
class Compiler {
  private readonly fields = new Map<JsonSchema, WireConverter>();
  private readonly items = new Map<JsonSchema, WireConverter>();
  private readonly pending: (() => void)[] = [];
  private readonly shapes = new Map<JsonSchema, WireShape>();
  private readonly openShapes = new Set<JsonSchema>();
  private readonly forms: TextFormReader;

  constructor(private readonly root: JsonSchema) {
    this.forms = new TextFormReader(root);
  }

  run(): WireConverter {
    const converter = this.compile(this.root);
    for (const create of this.pending) create();
    return converter;
  }

  /** @param isItem a text among the items of a list is no list of one text, which stands for the whole field */
  private compile(given: JsonSchema | boolean, isItem = false): WireConverter {
    const schema = resolve(given, this.root);
    const compiled = isItem ? this.items : this.fields;
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    let convert = keepTexts;
    this.pending.push(() => (convert = this.create(schema, isItem)));
    const converter: WireConverter = (value, path, faults) => convert(value, path, faults);
    compiled.set(schema, converter);
    return converter;
  }

  private create(schema: JsonSchema, isItem: boolean): WireConverter {
    const forms = this.forms.read(schema);
    const convertItem = this.compileItems(this.listParts(schema));
    const convertList: WireConverter = (value, path, faults) => [convertItem(0, value, path, faults)];
    const convertText = createTextConverter(forms, forms.has("array") && !isItem ? convertList : undefined);
    const shape = this.findShape(schema);
    return (value, path, faults) => {
      if (typeof value === "string") return convertText(value, path, faults);
      if (Array.isArray(value)) return value.map((item, at) => convertItem(at, item, path, faults));
      return isFields(value) ? convertFields(shape, value, path, faults) : value;
    };
  }

  /** The schema and those of which a value has to fit one, or with `allOf` each. */
  private listParts(schema: JsonSchema): ReadonlySet<JsonSchema> {
    const parts = new Set([schema]);
    for (const part of parts) {
      const { anyOf = [], oneOf = [] } = part;
      for (const each of [...anyOf, ...oneOf, ...listAllParts(part)]) parts.add(resolve(each, this.root));
      for (const each of listConstantSchemas(part)) parts.add(each);
    }
    return parts;
  }

  private compileItems(parts: ReadonlySet<JsonSchema>): ItemConverter {
    const lists = [...parts].map(({ prefixItems = [], items }) => ({
      first: prefixItems.map((each) => this.compileMember(each, true)),
      rest: this.compileRest(items, true),
    }));
    return (at, item, path, faults) => {
      const members = lists.flatMap(({ first, rest }) => first[at] ?? rest ?? []);
      return convertByOne(members, item, [...path, String(at)], faults);
    };
  }

  private createShape(schema: JsonSchema): WireShape {
    const { properties = {}, patternProperties = {}, additionalProperties, anyOf, oneOf } = schema;
    const members = Object.entries(properties);
    return {
      members: new Map(members.map(([name, member]) => [name, this.compileMember(member)])),
      patterns: Object.entries(patternProperties).flatMap(([pattern, member]) => {
        const expression = toExpression(pattern);
        return expression === undefined ? [] : [{ expression, member: this.compileMember(member) }];
      }),
      rest: this.compileRest(additionalProperties),
      constants: members.flatMap(([name, member]) => {
        const texts = listConstantTexts(this.forms.read(member));
        return texts === undefined ? [] : [[name, texts]];
      }),
      all: this.listShapes(listAllParts(schema)),
      choices: [anyOf, oneOf, listConstantSchemas(schema)]
        .map((schemas = []) => this.listShapes(schemas))
        .filter(({ length }) => length > 0),
    };
  }

  private listShapes(schemas: readonly JsonSchema[]): readonly WireShape[] {
    const resolved = schemas.map((each) => resolve(each, this.root)).filter((each) => !this.openShapes.has(each));
    return resolved.map((each) => this.findShape(each));
  }

  private findShape(schema: JsonSchema): WireShape {
    const known = this.shapes.get(schema);
    if (known !== undefined) return known;
    this.openShapes.add(schema);
    const shape = this.createShape(schema);
    this.openShapes.delete(schema);
    this.shapes.set(schema, shape);
    return shape;
  }

  private compileRest(schema: JsonSchema | boolean | undefined, isItem = false): WireMember | undefined {
    return typeof schema === "object" ? this.compileMember(schema, isItem) : undefined;
  }

  private compileMember(schema: JsonSchema, isItem = false): WireMember {
    const forms = this.forms.read(schema);
    const takesText = forms.get("string") === "any";
    return { convert: this.compile(schema, isItem), rank: takesEveryType(forms) ? 2 : takesText ? 0 : 1 };
  }
}

type ItemConverter = (at: number, item: unknown, path: WirePath, faults: SchemaIssue[]) => unknown;

interface WireMember {
  readonly convert: WireConverter;
  /** Of several members, one that takes any text converts first, and one of any type last. */
  readonly rank: number;
}

/** The members of one schema, and the schemas inside it. */
interface WireShape {
  readonly members: ReadonlyMap<string, WireMember>;
  readonly patterns: readonly { readonly expression: RegExp; readonly member: WireMember }[];
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
    const members = shapes.flatMap((each) => findMembers(each, name));
    converted[name] = convertByOne(members, field, [...path, name], faults);
  }
  return converted;
}

function findMembers({ members, patterns, rest }: WireShape, name: string): WireMember | readonly WireMember[] {
  const named = members.get(name);
  if (patterns.length === 0) return named ?? rest ?? [];
  const matching = patterns.filter(({ expression }) => expression.test(name)).map(({ member }) => member);
  return named === undefined && matching.length === 0 ? (rest ?? []) : [named ?? [], matching].flat();
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

/** Converts by the first member, in the order of their ranks, that has no fault. */
function convertByOne(members: readonly WireMember[], value: unknown, path: WirePath, faults: SchemaIssue[]): unknown {
  if (members.length < 2) return members[0] === undefined ? value : members[0].convert(value, path, faults);
  const missed: SchemaIssue[][] = [];
  for (const { convert } of members.toSorted((one, other) => one.rank - other.rank)) {
    const found: SchemaIssue[] = [];
    const converted = convert(value, path, found);
    if (found.length === 0) return converted;
    missed.push(found);
  }
  faults.push(...(missed[0] ?? []));
  return value;
}

/** The texts of a schema that takes its constants alone; `undefined` where it takes others, and where a constant has members. */
export function listConstantTexts(forms: TextForms): ReadonlySet<string> | undefined {
  const values = [...forms.values()];
  if (values.includes("any") || forms.has("array") || forms.has("object")) return undefined;
  return new Set(values.flat().map(String));
}

/** @param convertList converts a text as a list of one, where the schema takes a list */
function createTextConverter(forms: TextForms, convertList: WireConverter | undefined): WireConverter {
  const strings = forms.get("string") ?? [];
  if (strings === "any") return keepTexts;
  const texts = new Set(strings);
  const readers = TEXT_READERS.filter(({ type }) => forms.has(type) && !(type === "integer" && forms.has("number")));
  const expected = [...[...texts].map((text) => JSON.stringify(text)), ...readers.map((each) => each.expected)];
  const message = `Expected ${expected.join(" or ")}.`;
  return (value, path, faults) => {
    const text = value as string;
    if (texts.has(text)) return text;
    for (const { read } of readers) {
      const converted = read(text);
      if (converted !== undefined) return converted;
    }
    if (convertList !== undefined) return convertList(text, path, faults);
    if (readers.length > 0) faults.push({ message, path });
    return text;
  };
}

interface TextReader {
  readonly type: string;
  readonly expected: string;
  /** Returns `undefined` for a text that has not the form. */
  readonly read: (text: string) => number | boolean | undefined;
}

const TEXT_READERS: readonly TextReader[] = [
  { type: "integer", expected: "a whole number", read: readWhole },
  { type: "number", expected: "a number", read: readNumber },
  { type: "boolean", expected: "true or false", read: readBoolean },
];

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
