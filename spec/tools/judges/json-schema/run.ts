/**
 * Part of `npm run judges`: the tests of JSON Schema's own suite (draft 2020-12), as texts of a URL. The texts of a valid instance become the
 * instance, and no conversion turns the texts of invalid instances alone into a valid value. Ajv judges the converted values. Prints how many
 * tests ran, and which are left out for which reason.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { compileDeclaredMembers } from "../../../../lib/contracts/declared-members.js";
import { findFormChange, type JsonSchema } from "../../../../lib/contracts/json-schema.js";
import { compileWireValue, type WireConverter } from "../../../../lib/contracts/wire-value.js";
import type { SchemaIssue } from "../../../../lib/runtime/standard-schema.js";
import { ROOT } from "../../../support/sources.js";
import { type Json, listReadings, NoTexts, toTexts, unwrapSingle, type WireInput } from "./wire-texts.js";

interface Test {
  readonly description: string;
  readonly data: Json;
  readonly valid: boolean;
}

interface Group {
  readonly description: string;
  readonly schema: JsonSchema | boolean;
  readonly tests: readonly Test[];
}

const FILE = "spec/tools/judges/json-schema/draft2020-12.json";

/** Keywords that decide the type of a value, and that the conversion does not read. */
const UNREAD =
  listWords(`not if contains dependentSchemas dependencies propertyNames unevaluatedItems unevaluatedProperties
  $dynamicRef $anchor $id $schema`);

/** Keywords that decide no type. */
const LIMITS =
  listWords(`minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format
  minItems maxItems uniqueItems minProperties maxProperties required dependentRequired`);

/** Keywords with a schema under each name. */
const NAMED = listWords("$defs definitions dependentSchemas patternProperties properties");

const MAX_MS = 1000;

class Report {
  readonly faults: string[] = [];
  readonly counts = new Map<string, number>();

  count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }
}

const report = new Report();
const suite = JSON.parse(readFileSync(join(ROOT, FILE), "utf8")) as Readonly<Record<string, readonly Group[]>>;
for (const [file, groups] of Object.entries(suite))
  for (const group of groups) judgeGroup(`${file}, ${group.description}`, group);
print();

function judgeGroup(title: string, { schema, tests }: Group): void {
  const takes = createTakes(schema, tests);
  // A schema library gives a boolean for a part alone; the type of the framework has none there.
  const root = typeof schema === "object" ? schema : { allOf: [schema as unknown as JsonSchema] };
  const convert = within(title, () => {
    compileDeclaredMembers(root);
    findFormChange(root, root);
    return compileWireValue(root);
  });
  if (convert === undefined) return;
  const unread = findUnread(root);
  for (const test of tests) {
    const place = `${title}, ${test.description}`;
    within(place, () => compileDeclaredMembers(root)(test.data, () => undefined));
    const texts = toTexts(test.data);
    if (texts instanceof NoTexts) report.count(`left out: ${texts.reason}`);
    else for (const form of listForms(texts)) judgeTexts(place, test, form, { convert, takes, unread });
  }
}

interface Takes {
  readonly value: (value: unknown) => boolean;
  /** Whether the value is of the types of the schema, whatever its limits. */
  readonly form: (value: unknown) => boolean;
}

interface Judges {
  readonly convert: WireConverter;
  /** `undefined` where Ajv reads the schema otherwise, or not. */
  readonly takes: Takes | undefined;
  /** A keyword of the schema that the conversion does not read. */
  readonly unread: string | undefined;
}

function judgeTexts(place: string, test: Test, texts: WireInput, { convert, takes, unread }: Judges): void {
  const faults: SchemaIssue[] = [];
  const converted = within(place, () => convert(texts, [], faults));
  if (converted === undefined) return;
  if (takes === undefined) return report.count("left out: Ajv reads the schema otherwise, or not");
  const readings = listReadings(texts);
  if (readings === undefined) return report.count("left out: the texts may be too many values");
  const isTaken = faults.length === 0 && takes.value(converted);
  const shown = `${place}: ${JSON.stringify(texts)} as ${JSON.stringify(converted)}`;
  if (isTaken && !readings.some((each) => isSame(each, converted)))
    report.faults.push(`${shown}: no value of these texts`);
  else if (!test.valid)
    report.count(isTaken ? "invalid: the text is a valid value of another type" : "invalid: refused");
  else if (isTaken && isSame(test.data, converted)) report.count("valid: the same instance");
  else if (unread !== undefined) report.count(`left out: the conversion does not read ${unread}`);
  else if (readings.filter(takes.form).length > 1)
    report.count(isTaken ? "valid: another value of the texts" : "left out: the schema takes several types");
  else if (!isWritable(test.data)) report.count("left out: a whole number that JavaScript rounds");
  else report.faults.push(`${shown}: not the instance`);
}

/** Whether the conversion takes the numbers of a value. */
function isWritable(value: Json): boolean {
  if (typeof value === "number") return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value !== "object" || value === null || Object.values(value).every(isWritable);
}

function listWords(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

function listForms(texts: WireInput): readonly WireInput[] {
  const unwrapped = unwrapSingle(texts);
  return isSame(texts, unwrapped) ? [texts] : [texts, unwrapped];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Calls a part of the framework, which neither throws nor takes long. */
function within<T>(place: string, call: () => T): T | undefined {
  const start = performance.now();
  try {
    return call();
  } catch (error) {
    report.faults.push(`${place}: throws ${String(error)}`);
    return undefined;
  } finally {
    const ms = performance.now() - start;
    if (ms > MAX_MS) report.faults.push(`${place}: takes ${Math.round(ms)} ms`);
  }
}

/** Ajv does not know all schemas of others, and recurses without end in some. */
function createTakes(schema: JsonSchema | boolean, tests: readonly Test[]): Takes | undefined {
  try {
    const value = compileJudge(schema);
    return tests.every(({ data, valid }) => value(data) === valid)
      ? { value, form: compileJudge(withoutLimits(schema)) }
      : undefined;
  } catch {
    return undefined;
  }
}

function compileJudge(schema: unknown): (value: unknown) => boolean {
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    validateFormats: false,
    validateSchema: false,
    ownProperties: true,
  });
  const validate = ajv.compile(schema as JsonSchema | boolean);
  // Ajv calls methods that objects without a prototype lack.
  return (value) => validate(JSON.parse(JSON.stringify(value)));
}

/** The schema without the keywords that only limit a value. Of several alternatives that differ by limits, all may then fit. */
function withoutLimits(schema: unknown, isNamed = false): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((each) => withoutLimits(each));
  const members = Object.entries(schema).filter(([name]) => isNamed || !LIMITS.has(name));
  return Object.fromEntries(
    members.map(([name, value]) => {
      if (!isNamed && (name === "const" || name === "enum")) return [name, value];
      if (!isNamed && name === "oneOf") return ["anyOf", withoutLimits(value)];
      return [name, withoutLimits(value, !isNamed && NAMED.has(name))];
    }),
  );
}

/** The first keyword that decides a type, and that the conversion does not read. */
function findUnread(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  for (const [name, value] of Object.entries(schema)) {
    if (UNREAD.has(name)) return name;
    if (name === "$ref" && !/^#(?:\/|$)/.test(String(value))) return "a reference to another document";
    if (name === "const" || name === "enum") continue;
    const inner: readonly unknown[] = NAMED.has(name) ? Object.values(Object(value)) : [value];
    const found = inner.map(findUnread).find((each) => each !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

function print(): void {
  const counts = [...report.counts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  for (const [kind, count] of counts) console.log(`${String(count).padStart(5)} ${kind}`);
  console.log(`${report.faults.length === 0 ? "ok  " : "FAIL"} the tests of JSON Schema as texts`);
  for (const fault of report.faults) console.error(fault);
  if (report.faults.length > 0) process.exitCode = 1;
}
