import { expect } from "chai";
import * as fc from "fast-check";
import { toCanonicalPath, toCanonicalSegment, decodePart } from "../../lib/endpoints/percent-encoding.js";

describe("percent encoding of paths", () => {
  const rows: readonly (readonly [raw: string, canonical: string | undefined])[] = [
    ["/links/7", "/links/7"],
    ["/%6cinks", "/links"],
    ["/a%2fb", "/a%2Fb"],
    ["/a%3Ab", "/a:b"],
    ["/a:b@c!$&'()*+,;=-._~", "/a:b@c!$&'()*+,;=-._~"],
    ["/caf%c3%a9", "/caf%C3%A9"],
    ["/caf\u00c3\u00a9", "/caf%C3%A9"],
    ['/a"b<c>|^`{}\\[]', "/a%22b%3Cc%3E%7C%5E%60%7B%7D%5C%5B%5D"],
    ["/a%25b", "/a%25b"],
    ["/%253A", "/%253A"],
    ["/a b", "/a%20b"],
    ["//a//", "//a//"],
    ["/%2e%2E", "/.."],
    ["/%", undefined],
    ["/%z", undefined],
    ["/%zz", undefined],
    ["/a%2", undefined],
    ["/%C3", undefined],
    ["/%C3/%A9", undefined],
    ["/%C0%AF", undefined],
    ["/%ED%A0%80", undefined],
    ["/%FF", undefined],
    ["/\u00e9", undefined],
    ["/%00", undefined],
    ["/a%00b", undefined],
    ["/\ud800", undefined],
  ];
  for (const [raw, canonical] of rows) {
    it(`${canonical === undefined ? "refuses" : `gives the canonical path ${canonical} for`} ${JSON.stringify(raw)}`, () => {
      expect(toCanonicalPath(raw)).to.equal(canonical);
    });
  }

  it("keeps a canonical path as it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (path) => {
        const canonical = toCanonicalPath(path);
        fc.pre(canonical !== undefined);

        expect(toCanonicalPath(canonical)).to.equal(canonical);
      }),
    );
  });

  it("gives every text one spelling, which decodes to the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
        fc.pre(!text.includes("\0"));

        expect(decodePart(toCanonicalSegment(text) ?? "")).to.equal(text);
        expect(toCanonicalPath(encodeURIComponent(text))).to.equal(toCanonicalSegment(text));
      }),
    );
  });
});
