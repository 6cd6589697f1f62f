/** `Accept-Language` and language tags as pure functions: each row of the standards, and what hostile clients send. */
import { expect } from "chai";
import * as fc from "fast-check";
import { getDirection, isCanonicalTag, listShorterTags, readAcceptLanguage } from "../../lib/i18n/language-tag.js";

describe("the ranges of Accept-Language", () => {
  const rows: readonly (readonly [title: string, header: string, wanted: readonly string[], refused?: string[]])[] = [
    ["come in the order of the header", "de, en", ["de", "en"]],
    ["come by weight", "en;q=0.5, de;q=0.9, fr", ["fr", "de", "en"]],
    ["keep their order at equal weights", "b;q=0.5, a;q=0.5", ["b", "a"]],
    ["have white space around their parts", " de-AT ; q=0.8 ,\ten", ["en", "de-at"]],
    ["with the weight 0 are refused", "de;q=0, en;q=0.000", [], ["de", "en"]],
    ["have an upper-case Q too", "de;Q=0.1, en", ["en", "de"]],
    ["leave out a star", "*, de;q=0.1", ["de"]],
    ["leave out a weight above 1", "de;q=2, en", ["en"]],
    ["leave out a weight of four digits", "de;q=0.1234, en", ["en"]],
    ["leave out a negative weight", "de;q=-1, en", ["en"]],
    ["leave out a weight without a number", "de;q=, en;q=NaN, fr;q=Infinity", []],
    ["leave out another parameter", "de;level=1, en;q=0.5;x=1", []],
    ["leave out empty members", ",,, de,,", ["de"]],
    ["leave out a path", "../../etc/passwd, de", ["de"]],
    ["leave out names of members of objects with underscores", "__proto__, de", ["de"]],
    ["leave out other scripts", "дe, de, ｄｅ", ["de"]],
    ["leave out NUL and line ends", "d\u0000e, d\ne, en", ["en"]],
    ["leave out a subtag of nine letters", "constructors, de-123456789, en", ["en"]],
    ["are none for an empty header", "", []],
  ];
  for (const [title, header, wanted, refused = []] of rows) {
    it(title, () => {
      const ranges = readAcceptLanguage(header);

      expect(ranges.wanted).to.deep.equal(wanted);
      expect([...ranges.refused]).to.deep.equal(refused);
    });
  }

  it("are those of the first 16 members", () => {
    const many = Array.from({ length: 1000 }, (_each, at) => `x-${at}`).join(",");

    expect(readAcceptLanguage(many).wanted).to.have.length(16);
  });

  it("are those of the first 512 characters, and a member that is cut does not count", () => {
    const { wanted } = readAcceptLanguage(`en,${" ".repeat(500)}de-AT-x-long`);

    expect(wanted).to.deep.equal(["en"]);
    expect(readAcceptLanguage("a".repeat(100_000)).wanted).to.deep.equal([]);
  });

  it("are well-formed for any text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 700 }), (header) => {
        for (const range of readAcceptLanguage(header).wanted) expect(range).to.match(/^[a-z\d-]{1,512}$/);
      }),
    );
  });
});

describe("the shorter forms of a tag", () => {
  const rows: readonly (readonly [tag: string, forms: readonly string[]])[] = [
    ["de", ["de"]],
    ["zh-Hant-CN", ["zh-hant-cn", "zh-hant", "zh"]],
    // The example of RFC 4647 section 3.4.
    [
      "zh-Hant-CN-x-private1-private2",
      ["zh-hant-cn-x-private1-private2", "zh-hant-cn-x-private1", "zh-hant-cn", "zh-hant", "zh"],
    ],
    ["x", ["x"]],
    ["", []],
    ["..", []],
    ["de_DE", []],
    ["*", []],
    ["a".repeat(65), []],
  ];
  for (const [tag, forms] of rows) {
    it(`of ${JSON.stringify(tag.slice(0, 40))} are ${forms.length}`, () => {
      expect(listShorterTags(tag)).to.deep.equal(forms);
    });
  }

  it("end for any text", () => {
    fc.assert(fc.property(fc.string(), (text) => listShorterTags(text).every((tag) => tag !== "")));
  });
});

describe("the direction of a language", () => {
  for (const [tag, dir] of [
    ["en", "ltr"],
    ["ar", "rtl"],
    ["he", "rtl"],
    ["fa-IR", "rtl"],
    ["ur", "rtl"],
    ["az-Arab", "rtl"],
    ["ks-Latn", "ltr"],
    ["ja", "ltr"],
  ] as const) {
    it(`of ${tag} is ${dir}`, () => {
      expect(getDirection(tag)).to.equal(dir);
    });
  }
});

describe("a tag in its usual spelling", () => {
  it("is en, pt-BR or zh-Hant, and no other spelling of them", () => {
    expect(["en", "pt-BR", "zh-Hant"].filter(isCanonicalTag)).to.have.length(3);
    expect(["EN", "pt-br", "de_DE", "..", "", "x y", "__proto__"].filter(isCanonicalTag)).to.deep.equal([]);
  });
});
