import { expect } from "chai";
import * as fc from "fast-check";
import { RedactionPatterns, apply, DENY_LIST, isSensitive, REDACTED } from "../../../lib/observe/logging/redaction.js";
import { anyText } from "../../support/any-text.js";

/** The rules of redaction as a plain, slow function. */
function isSensitiveByRules(field: string, patterns: readonly string[] = DENY_LIST): boolean {
  const folded = field
    .split("")
    .map((character) => (character === "-" || character === "." ? "_" : character))
    .map((character) => (character >= "A" && character <= "Z" ? character.toLowerCase() : character))
    .join("");
  return patterns.some((pattern) => folded.includes(pattern));
}

const rows: readonly (readonly [field: string, sensitive: boolean, why: string])[] = [
  ...DENY_LIST.map((pattern) => [pattern, true, "a pattern itself"] as const),
  ["author", true, "auth"],
  ["authority", true, "auth"],
  ["wildcard", true, "card"],
  ["discard", true, "card"],
  ["cardinality", true, "card"],
  ["binding", true, "bind"],
  ["body_bytes", true, "body"],
  ["token_count", true, "token"],
  ["hotpath", true, "otp"],
  ["everybody", true, "body"],
  ["tokenizer", true, "token"],
  ["secretary", true, "secret"],
  ["set-cookie", true, "cookie"],
  ["x-api-key", true, "hyphens become underscores"],
  ["X-Api-Key", true, "hyphens become underscores, capitals become lower case"],
  ["api.key", true, "dots become underscores"],
  ["http.request.header.authorization", true, "auth"],
  ["apiKey", true, "in lower case it is the pattern apikey"],
  ["accessToken", true, "in lower case it contains token"],
  ["PASSWORD", true, "capitals become lower case"],
  ["db.passwd", true, "a pattern at the end"],
  ["privateKey", false, "camel case is not a separator"],
  ["sessionId", false, "camel case is not a separator"],
  ["private key", false, "a space is not folded"],
  ["private/key", false, "a slash is not folded"],
  ["private:key", false, "a colon is not folded"],
  ["pin code", false, "a space is not folded"],
  ["private\u2010key", false, "the Unicode hyphen is not folded"],
  ["to\u212aen", false, "the Kelvin sign is not folded to k"],
  ["pa\u017f\u017fword", false, "the long s is not folded to s"],
  ["\uff34oken", false, "a full-width T is not folded to t"],
  ["note", false, "it contains no pattern"],
  ["user-agent", false, "it contains no pattern"],
  ["content-length", false, "it contains no pattern"],
  ["http.route", false, "it contains no pattern"],
  ["trace_id", false, "it contains no pattern"],
  ["client_ip", false, "it contains no pattern"],
  ["", false, "an empty name"],
];

describe("redaction", () => {
  for (const [field, sensitive, why] of rows) {
    it(`${sensitive ? "redacts" : "shows"} ${JSON.stringify(field)}: ${why}`, () => {
      expect(isSensitive(field)).to.equal(sensitive);
      expect(apply(field, "value")).to.equal(sensitive ? REDACTED : "value");
    });
  }

  it("decides every name by the rules", () => {
    const part = fc.constantFrom(...DENY_LIST, "-", ".", "_", "K", "\u212a", "\u017f", "é", "É", " ", "x");
    const name = fc.array(fc.oneof(part, part.map(shout), anyText())).map((parts) => parts.join(""));

    fc.assert(fc.property(name, (field) => isSensitive(field) === isSensitiveByRules(field)));
  });

  it("finds each pattern in each spelling that the rules fold", () => {
    const spelling = fc
      .constantFrom(...DENY_LIST)
      .chain((pattern) =>
        fc
          .tuple(...pattern.split("").map((character) => fc.constantFrom(...spellings(character))))
          .map((characters) => characters.join("")),
      );

    fc.assert(fc.property(fc.string(), spelling, fc.string(), (a, pattern, b) => isSensitive(a + pattern + b)));
  });

  it("has a sorted and frozen list in lower case", () => {
    expect(DENY_LIST).to.have.lengthOf(29);
    expect([...DENY_LIST].toSorted()).to.deep.equal(DENY_LIST);
    expect(DENY_LIST.map((pattern) => pattern.toLowerCase())).to.deep.equal(DENY_LIST);
    expect(Object.isFrozen(DENY_LIST)).to.equal(true);
  });

  it("returns a value that is not redacted unchanged", () => {
    const value = { password: "stays, for it is the field that is judged" };

    expect(apply("note", value)).to.equal(value);
    expect(apply("password", value)).to.equal("[redacted]");
  });

  it("decides a name of a megabyte and a million different names", () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `name${index}`);

    expect(isSensitive(`${"a".repeat(1 << 20)}-token`)).to.equal(true);
    expect(names.filter(isSensitive)).to.deep.equal([]);
  });

  it("takes all characters of a pattern literally", () => {
    const patterns = ["a.b", "(c", "É", "\ud800", "[d-e]"];

    fc.assert(
      fc.property(fc.array(fc.constantFrom(...patterns, "a-b", "a_b", "axb", "é", "d", "\udc00")), (parts) => {
        const field = parts.join("");
        const folded = ["a_b", "(c", "É", "\ud800", "[d_e]"];
        return (
          new RedactionPatterns(patterns).matches(field) === folded.some((pattern) => fold(field).includes(pattern))
        );
      }),
    );
  });
});

function shout(text: string): string {
  return text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
}

function spellings(character: string): string[] {
  return character === "_" ? ["_", "-", "."] : [character, character.toUpperCase()];
}

function fold(field: string): string {
  return field.replaceAll(/[-.]/g, "_").replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
