/**
 * The texts that a client sends for a value of JSON, and the values that texts may stand for. The judge knows both from the guide, and not
 * from the code that it judges.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A value as it arrives: texts, lists of them, and objects without a prototype. */
export type WireInput = string | readonly WireInput[] | { readonly [name: string]: WireInput };

/** The reason why a value has no texts. */
export class NoTexts {
  constructor(readonly reason: string) {}
}

/** @param isInner a query may be empty, an object inside it may not */
export function toTexts(value: Json, isInner = false): WireInput | NoTexts {
  if (value === null) return new NoTexts("null has no text");
  if (typeof value !== "object") return String(value);
  const members = Object.entries(value).map(([name, each]) => [name, toTexts(each, true)] as const);
  const missing = members.map(([, texts]) => texts).find((texts) => texts instanceof NoTexts);
  if (missing !== undefined) return missing;
  if (members.length === 0 && (isInner || Array.isArray(value))) return new NoTexts("an empty list has no text");
  if (Array.isArray(value)) return members.map(([, texts]) => texts as WireInput);
  return toFields(members as readonly (readonly [string, WireInput])[]);
}

/** A field with a list of one text arrives as the text; inside a list it stays a list. */
export function unwrapSingle(texts: WireInput, isItem = false): WireInput {
  if (typeof texts === "string") return texts;
  if (!isList(texts)) return toFields(Object.entries(texts).map(([name, each]) => [name, unwrapSingle(each)]));
  const [first] = texts;
  const isSingle = texts.length === 1 && typeof first === "string" && !isItem;
  return isSingle ? first : texts.map((each) => unwrapSingle(each, true));
}

const MAX_READINGS = 5000;

/** All values that texts may stand for; `undefined` where they are too many. */
export function listReadings(texts: WireInput): readonly Json[] | undefined {
  if (typeof texts === "string") return listTextReadings(texts).flatMap((value) => [value, [value]]);
  const parts = Object.entries(texts).map(([name, each]) => [name, listReadings(each)] as const);
  let readings: readonly (readonly (readonly [string, Json])[])[] = [[]];
  for (const [name, values] of parts) {
    if (values === undefined || readings.length * values.length > MAX_READINGS) return undefined;
    readings = readings.flatMap((reading) => values.map((value) => [...reading, [name, value] as const]));
  }
  return readings.map((members) => (isList(texts) ? members.map(([, value]) => value) : toFields(members)));
}

function listTextReadings(text: string): readonly Json[] {
  const isWritten = String(Number(text)) === text && Number.isFinite(Number(text));
  const isBoolean = text === "true" || text === "false";
  return [text, ...(isWritten ? [Number(text)] : []), ...(isBoolean ? [text === "true"] : [])];
}

function isList(texts: WireInput): texts is readonly WireInput[] {
  return Array.isArray(texts);
}

function toFields<T>(members: readonly (readonly [string, T])[]): { readonly [name: string]: T } {
  const fields = Object.create(null) as Record<string, T>;
  for (const [name, value] of members) fields[name] = value;
  return fields;
}
