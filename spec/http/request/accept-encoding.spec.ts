import { expect } from "chai";
import * as fc from "fast-check";
import { pickCoding, readAcceptEncoding } from "../../../lib/http/request/accept-encoding.js";
import { anyText } from "../../support/any-text.js";

describe("Accept-Encoding", () => {
  const rows: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ["no header", undefined, undefined],
    ["an empty header", "", undefined],
    ["the header of browsers", "gzip, deflate, br, zstd", "br"],
    ["gzip alone", "gzip", "gzip"],
    ["br alone", "br", "br"],
    ["any case", "GZip", "gzip"],
    ["the old name", "x-gzip", "gzip"],
    ["the higher weight", "br;q=0.5, gzip;q=0.8", "gzip"],
    ["the higher weight, to the thousandth", "br;q=0.801, gzip;q=0.8", "br"],
    ["br on a tie", "gzip;q=0.8, br;q=0.8", "br"],
    ["br on a tie, first or last", "br, gzip", "br"],
    ["blanks around all parts", " gzip ; q=0.5 ,\tbr ;q=0.4", "gzip"],
    ["no blanks", "gzip;q=0.5,br;q=0.4", "gzip"],
    ["Q in upper case", "gzip;Q=0.5", "gzip"],
    ["weight 0 is a refusal", "br;q=0, gzip", "gzip"],
    ["weight 0.000 is a refusal", "br;q=0.000, gzip;q=0.0", undefined],
    ["a star means the codings that are not mentioned", "*", "br"],
    ["a star after a refusal", "br;q=0, *", "gzip"],
    ["a star that refuses the rest", "gzip, *;q=0", "gzip"],
    ["a star that refuses all", "*;q=0", undefined],
    ["identity at the same weight", "identity, gzip", "gzip"],
    ["identity preferred", "identity, gzip;q=0.5", undefined],
    ["identity less preferred", "identity;q=0.2, gzip;q=0.5", "gzip"],
    ["identity preferred through a star", "gzip;q=0.5, br;q=0, *;q=0.8", undefined],
    ["identity alone", "identity", undefined],
    ["only a refused identity", "identity;q=0", undefined],
    ["only unsupported codings", "deflate, zstd, compress", undefined],
    ["a weight above 1 is not a member", "br;q=2, gzip;q=0.1", "gzip"],
    ["a negative weight is not a member", "br;q=-1, gzip;q=0.1", "gzip"],
    ["four decimals are not a weight", "br;q=0.1234, gzip;q=0.1", "gzip"],
    ["1.001 is not a weight", "br;q=1.001, gzip;q=0.1", "gzip"],
    ["a weight in words is not a member", "br;q=high, gzip;q=0.1", "gzip"],
    ["an empty weight is not a member", "br;q=, gzip;q=0.1", "gzip"],
    ["another parameter is not a member", "br;level=9, gzip;q=0.1", "gzip"],
    ["a parameter after the weight is not a member", "br;q=1;a=b, gzip;q=0.1", "gzip"],
    ["the first of two counts", "br;q=0, br, gzip", "gzip"],
    ["empty members", ",,gzip,,", "gzip"],
    ["longer names with the same start", "brotli, gzipped", undefined],
    ["members after the 32nd", `${"x,".repeat(32)}gzip`, undefined],
  ];

  for (const [title, header, coding] of rows) {
    it(`picks ${coding ?? "no coding"}: ${title}`, () => {
      expect(pickCoding(readAcceptEncoding(header))).to.equal(coding);
    });
  }

  it("picks only a coding that is available", () => {
    const acceptance = readAcceptEncoding("br, gzip;q=0.5");

    expect(pickCoding(acceptance, { br: false, gzip: true })).to.equal("gzip");
    expect(pickCoding(acceptance, { br: false, gzip: false })).to.equal(undefined);
  });

  const name = fc.constantFrom("br", "gzip", "identity", "*", "deflate");
  const weight = fc.integer({ min: 0, max: 1000 });
  const wishes = fc.uniqueArray(fc.tuple(name, weight), { selector: ([each]) => each, maxLength: 5 });

  it("never picks a refused coding, or one with a lower weight than another", () => {
    fc.assert(
      fc.property(wishes, (list) => {
        const header = list.map(([each, thousandths]) => `${each};q=${(thousandths / 1000).toFixed(3)}`).join(", ");
        const wanted = new Map<string, number>(list);
        const of = (each: string): number => wanted.get(each) ?? wanted.get("*") ?? 0;

        const picked = pickCoding(readAcceptEncoding(header));

        const best = Math.max(of("br"), of("gzip"), of("identity"));
        if (picked === undefined) expect(of("identity") === best || best === 0).to.equal(true);
        else expect([of(picked), best > 0]).to.deep.equal([best, true]);
      }),
    );
  });

  it("reads any text without an error", () => {
    fc.assert(
      fc.property(anyText({ maxLength: 200 }), (header) => {
        const { br, gzip } = readAcceptEncoding(header);

        expect([br, gzip].every((each) => each >= 0 && each <= 1000)).to.equal(true);
      }),
    );
  });
});
