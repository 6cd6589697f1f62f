/** The grammar of `Idempotency-Key`: a string of RFC 8941, and the same characters without quotes. */
import { expect } from "chai";
import { assert, constantFrom, property, string } from "fast-check";
import { parseIdempotencyKey } from "../../lib/idempotency/idempotency-key.js";

const KEYS: readonly (readonly [header: string, key: string])[] = [
  ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', "8e03978e-40d5-43dd-bc93-6894a57f9324"],
  ["8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"],
  ["a", "a"],
  ["order:7/2026+retry=1", "order:7/2026+retry=1"],
  ["KG5LxwFBepaKHyUD", "KG5LxwFBepaKHyUD"],
  ['"a b, c; d"', "a b, c; d"],
  [String.raw`"a \"b\" \\ c"`, String.raw`a "b" \ c`],
  ["a".repeat(255), "a".repeat(255)],
  [`"${"a".repeat(255)}"`, "a".repeat(255)],
  [`"${String.raw`\"`.repeat(255)}"`, '"'.repeat(255)],
];

const REFUSED: readonly string[] = [
  "",
  '""',
  "a".repeat(256),
  `"${"a".repeat(256)}"`,
  "a b",
  "a, b",
  '"a", "b"',
  "a,b",
  "a;q=1",
  '"a";q=1',
  '"a',
  'a"',
  'a"b',
  String.raw`a\b`,
  String.raw`"a\b"`,
  String.raw`"a\"`,
  "ä",
  '"ä"',
  "a\tb",
  '"a\u007f"',
  ":a\u0000:",
];

describe("an idempotency key", () => {
  for (const [header, key] of KEYS)
    it(`is read from ${header.slice(0, 40)}`, () => {
      expect(parseIdempotencyKey(header)).to.equal(key);
    });

  for (const header of REFUSED)
    it(`is not ${JSON.stringify(header).slice(0, 40)}`, () => {
      expect(parseIdempotencyKey(header)).to.equal(undefined);
    });

  it("is the same with quotes and without, whatever characters it has", () => {
    const characters = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at));
    const bare = characters.filter((each) => !'",;\\'.includes(each));
    const keys = string({ unit: constantFrom(...bare), minLength: 1, maxLength: 255 });

    assert(
      property(keys, (key) => {
        expect([parseIdempotencyKey(key), parseIdempotencyKey(`"${key}"`)]).to.deep.equal([key, key]);
      }),
    );
  });
});
