/**
 * Texts of any code points for property tests: the values of fast-check's `string({ unit: "binary" })`. That unit keeps a map of all
 * 1.1 million code points, which takes a second of a processor and 85 MB in each process, and slows each garbage collection after it.
 *
 * @example
 * fc.assert(fc.property(anyText({ maxLength: 200 }), (header) => accepts(header)));
 */
import * as fc from "fast-check";

/** The code points between, which UTF-16 uses in pairs, stand for no character alone. */
const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;
const ONE_CHARACTER = /^\P{Cs}$/su;

const codePoint = fc.nat({ max: LAST - SURROGATES.count }).map(characterAt, indexOf);

export function anyText(
  lengths: { readonly minLength?: number; readonly maxLength?: number } = {},
): fc.Arbitrary<string> {
  return fc.string({ ...lengths, unit: codePoint });
}

function characterAt(index: number): string {
  return String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count);
}

/** The inverse; fast-check takes the error as "no such value". */
function indexOf(value: unknown): number {
  const point = typeof value === "string" && ONE_CHARACTER.test(value) ? value.codePointAt(0) : undefined;
  if (point === undefined) throw new TypeError("not one character");
  return point < SURROGATES.first ? point : point - SURROGATES.count;
}
