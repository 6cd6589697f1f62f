import { expect } from "chai";
import * as fc from "fast-check";
import { RedactionPatterns, apply, DENY_LIST, isSensitive, REDACTED } from "../../../lib/observe/logging/redaction.js";

/** The rules of section 2.5, word for word and as slow as they read. */
function sensitiveByTheRules(field: string, needles: readonly string[] = DENY_LIST): boolean {
  const folded = field
    .split("")
    .map((character) => (character === "-" || character === "." ? "_" : character))
    .map((character) => (character >= "A" && character <= "Z" ? character.toLowerCase() : character))
    .join("");
  return needles.some((needle) => folded.includes(needle));
}

const rows: readonly (readonly [field: string, sensitive: boolean, why: string])[] = [
  ...DENY_LIST.map((needle) => [needle, true, "a needle itself"] as const),
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
  ["X-Api-Key", true, "and capitals are lowered"],
  ["api.key", true, "dots become underscores"],
  ["http.request.header.authorization", true, "auth"],
  ["apiKey", true, "lowered it is the needle apikey"],
  ["accessToken", true, "lowered it holds token"],
  ["PASSWORD", true, "capitals are lowered"],
  ["db.passwd", true, "a needle at the end"],
  ["privateKey", false, "camel case is no separator"],
  ["sessionId", false, "camel case is no separator"],
  ["private key", false, "a space is not folded"],
  ["private/key", false, "a slash is not folded"],
  ["private:key", false, "a colon is not folded"],
  ["pin code", false, "a space is not folded"],
  ["private\u2010key", false, "another hyphen is not folded"],
  ["to\u212aen", false, "the Kelvin sign is not lowered to k"],
  ["pa\u017f\u017fword", false, "the long s is no s"],
  ["\uff34oken", false, "a wide T is no t"],
  ["note", false, "no needle in it"],
  ["user-agent", false, "no needle in it"],
  ["content-length", false, "no needle in it"],
  ["http.route", false, "no needle in it"],
  ["trace_id", false, "no needle in it"],
  ["client_ip", false, "no needle in it"],
  ["", false, "nothing in it"],
];

describe("redaction", () => {
  for (const [field, sensitive, why] of rows) {
    it(`${sensitive ? "withholds" : "shows"} ${JSON.stringify(field)}: ${why}`, () => {
      expect(isSensitive(field)).to.equal(sensitive);
      expect(apply(field, "value")).to.equal(sensitive ? REDACTED : "value");
    });
  }

  it("judges every name as the rules read", () => {
    const part = fc.constantFrom(...DENY_LIST, "-", ".", "_", "K", "\u212a", "\u017f", "é", "É", " ", "x");
    const name = fc
      .array(fc.oneof(part, part.map(shout), fc.string({ unit: "binary" })))
      .map((parts) => parts.join(""));

    fc.assert(fc.property(name, (field) => isSensitive(field) === sensitiveByTheRules(field)));
  });

  it("finds any needle in any spelling that the rules fold together", () => {
    const spelling = fc
      .constantFrom(...DENY_LIST)
      .chain((needle) =>
        fc
          .tuple(...needle.split("").map((character) => fc.constantFrom(...spellings(character))))
          .map((characters) => characters.join("")),
      );

    fc.assert(fc.property(fc.string(), spelling, fc.string(), (a, needle, b) => isSensitive(a + needle + b)));
  });

  it("has a list that is sorted, lower case and frozen", () => {
    expect(DENY_LIST).to.have.lengthOf(29);
    expect([...DENY_LIST].toSorted()).to.deep.equal(DENY_LIST);
    expect(DENY_LIST.map((needle) => needle.toLowerCase())).to.deep.equal(DENY_LIST);
    expect(Object.isFrozen(DENY_LIST)).to.equal(true);
  });

  it("hands back the very value that it does not withhold", () => {
    const value = { password: "stays, for it is the field that is judged" };

    expect(apply("note", value)).to.equal(value);
    expect(apply("password", value)).to.equal("[redacted]");
  });

  it("judges a name of a megabyte, and a million different names, without keeping them", () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `name${index}`);

    expect(isSensitive(`${"a".repeat(1 << 20)}-token`)).to.equal(true);
    expect(names.filter(isSensitive)).to.deep.equal([]);
  });

  it("takes needles of any characters for what they are", () => {
    const needles = ["a.b", "(c", "É", "\ud800", "[d-e]"];

    fc.assert(
      fc.property(fc.array(fc.constantFrom(...needles, "a-b", "a_b", "axb", "é", "d", "\udc00")), (parts) => {
        const field = parts.join("");
        const folded = ["a_b", "(c", "É", "\ud800", "[d_e]"];
        return new RedactionPatterns(needles).matches(field) === folded.some((needle) => fold(field).includes(needle));
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
