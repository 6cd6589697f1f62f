/**
 * The conversion between values of PostgreSQL and of JavaScript, for the connections of one driver. The global settings of the package stay
 * unchanged.
 *
 * An integer of 64 bits is a number and fails above 2^53 - 1, unless the option sets another type. `numeric` is a text. A `timestamptz` is
 * a Date. A `timestamp` has no zone: it is read and written as UTC, and not in the zone of the machine. A `date` is a text, `2026-11-22`,
 * because a day is not a point in time. JSON is parsed.
 */
import { checkText, refuseBind, refuseBinds, refuseTextForJson, refuseUnwritable } from "../../bind.js";
import { DriverError } from "../../driver-error.js";
import { JsonBind, toJsonText } from "../../json.js";
import { type JsonPositions, NO_JSON } from "./parameter-types.js";
import type { PostgresBigints } from "./postgres-options.js";
import { pg } from "./postgres-package.js";

type ParseText = (text: string) => unknown;
type ParserOf = (type: number, format?: Format) => ParseText;
type Format = "text" | "binary";

/** The numbers of the types in the server's catalogue, each with that of its array. */
const INT8 = [20, 1016] as const;
const DATE = [1082, 1182] as const;
const TIMESTAMP = [1114, 1115] as const;
/** The parser of an array of texts returns the elements as texts. */
const TEXT_ARRAY = 1009;
const TIMESTAMPTZ = 1184;

/** The protocol counts the binds in 16 bits, and the package does not check the number. */
const MAX_BINDS = 65_535;
const REFUSED: ReadonlySet<string> = new Set(["undefined", "function", "symbol"]);

/** A member that the types of the package leave out. */
const { utils: packageUtils } = pg as unknown as { readonly utils: { prepareValue(value: unknown): unknown } };

const BIGINTS: Readonly<Record<PostgresBigints, ParseText>> = {
  number: parseSafeNumber,
  bigint: BigInt,
  string: (text) => text,
};

export interface PostgresTypes {
  readonly getTypeParser: ParserOf;
}

export function createPostgresTypes(bigints: PostgresBigints): PostgresTypes {
  const parsers = new Map<number, ParseText>([
    ...withArray(INT8, BIGINTS[bigints]),
    ...withArray(DATE, (text) => text),
    ...withArray(TIMESTAMP, parseUtcDate),
  ]);
  return {
    getTypeParser: (type, format) => (format === "binary" ? undefined : parsers.get(type)) ?? getParser(type, format),
  };
}

/**
 * A Date is written in UTC, also in an array: the package would write it in the zone of the machine. Arrays and objects are allowed: the
 * server reads them as arrays and JSON, and only for a column of that type. A parameter of `json` gets JSON. These binds are converted
 * here, because the package converts them when it has sent a part of the statement already. Returns the given array if no bind is
 * converted.
 *
 * @throws FrameworkError `E_DB_BIND` for `undefined`, a function, a symbol, an object that cannot be written, and for too many binds
 */
export function toBinds(parameters: readonly unknown[], json: JsonPositions = NO_JSON): unknown[] {
  if (parameters.length > MAX_BINDS) refuseBinds(parameters.length, MAX_BINDS);
  let hasObject = false;
  for (const [index, value] of parameters.entries()) {
    if (typeof value === "string") checkText(value);
    if (REFUSED.has(typeof value)) refuseBind(value, index);
    hasObject ||= typeof value === "object" && value !== null;
  }
  // The package reads the array and does not change it.
  if (!hasObject && json.size === 0) return parameters as unknown[];
  return parameters.map((value, index) => {
    const kind = json.get(index);
    if (kind === "array") return Array.isArray(value) ? writeBind(toJsonElements(value, index), index) : value;
    if (kind !== undefined) return toJsonBind(value, index, kind === "cast");
    return typeof value === "object" && value !== null ? writeBind(value, index) : value;
  });
}

/** Numbers, booleans and null have the same meaning in JSON. */
function toJsonBind(value: unknown, index: number, isCast: boolean): unknown {
  if (typeof value === "string") return isCast ? value : refuseTextForJson(index);
  if (value instanceof JsonBind) return value.text;
  return typeof value === "object" && value !== null ? toJsonText(value, `bind ${index + 1} of a statement`) : value;
}

/** A nested array is another dimension. */
function toJsonElements(array: readonly unknown[], index: number): readonly unknown[] {
  return array.map((each) => (Array.isArray(each) ? toJsonElements(each, index) : toJsonBind(each, index, false)));
}

function writeBind(value: object, index: number): unknown {
  if (value instanceof JsonBind) return value.text;
  try {
    const dated = withDateTexts(value);
    if (typeof dated !== "object") return dated;
    const bind = packageUtils.prepareValue(dated);
    if (typeof bind === "string") checkText(bind);
    return bind;
  } catch (error) {
    if (error instanceof DriverError) throw error;
    return refuseUnwritable(index);
  }
}

function withDateTexts(value: unknown): unknown {
  if (value instanceof Date) return formatDate(value);
  return Array.isArray(value) ? value.map(withDateTexts) : value;
}

/** The parsers of the package. Its declarations use `any`, and list only some types. */
function getParser(type: number, format?: Format): ParseText {
  return (pg.types.getTypeParser as ParserOf)(type, format);
}

function withArray([type, arrayType]: readonly [number, number], parse: ParseText): readonly [number, ParseText][] {
  return [
    [type, parse],
    [arrayType, (text) => mapTexts(getParser(TEXT_ARRAY)(text), parse)],
  ];
}

function mapTexts(value: unknown, parse: ParseText): unknown {
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, parse));
  return typeof value === "string" ? parse(value) : value;
}

function parseSafeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new DriverError({
    kind: "other",
    code: "INTEGER_RANGE",
    text: 'an integer above 2^53 - 1 was read: set bigints of postgres() to "bigint" or "string"',
  });
}

/** The parser of the package knows infinity, years before Christ and fractions. It needs the zone in the text. */
function parseUtcDate(text: string): unknown {
  return getParser(TIMESTAMPTZ)(text.endsWith("infinity") || text.endsWith("BC") ? text : `${text}+00`);
}

function formatDate(value: Date): string {
  if (Number.isNaN(value.getTime()))
    throw new DriverError({ kind: "other", code: "INVALID_DATE", text: "a bind is an invalid Date" });
  const year = value.getUTCFullYear();
  if (year > 0) return value.toISOString().replace(/^\+0*/, "");
  return `${value.toISOString().replace(/^[+-]?\d+/, String(1 - year).padStart(4, "0"))} BC`;
}
