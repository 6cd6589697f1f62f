import type { IncomingHttpHeaders } from "node:http";
import { expect } from "chai";
import * as fc from "fast-check";
import {
  evaluateConditions,
  isRangeCurrent,
  readHttpDate,
  formatHttpDate,
} from "../../../lib/http/response/conditions.js";

const MODIFIED = Date.UTC(2026, 2, 1, 12, 0, 0) / 1000;
const file = { etag: 'W/"1000-abc"', modified: MODIFIED, lastModified: formatHttpDate(MODIFIED) };
const same = file.lastModified;
const before = formatHttpDate(MODIFIED - 1);
const after = formatHttpDate(MODIFIED + 1);

describe("evaluateConditions", () => {
  const rows: readonly (readonly [string, IncomingHttpHeaders, 200 | 304 | 412])[] = [
    ["no condition", {}, 200],
    ["If-None-Match: the tag", { "if-none-match": file.etag }, 304],
    ["If-None-Match: the tag, as a strong tag", { "if-none-match": '"1000-abc"' }, 304],
    ["If-None-Match: one of several", { "if-none-match": '"x", W/"1000-abc" , "y"' }, 304],
    ["If-None-Match: others", { "if-none-match": '"x", W/"y"' }, 200],
    ["If-None-Match: any", { "if-none-match": "*" }, 304],
    ["If-None-Match: a tag that holds the text of the tag", { "if-none-match": '"x1000-abc"' }, 200],
    ["If-None-Match: no quotes", { "if-none-match": "1000-abc" }, 200],
    ["If-None-Match: quotes that do not end", { "if-none-match": '"1000-abc' }, 200],
    ["If-None-Match: the tag between two others' quotes", { "if-none-match": '"a"1000-abc"b"' }, 200],
    ["If-None-Match: nothing", { "if-none-match": "" }, 200],
    ["If-None-Match before If-Modified-Since, no match", { "if-none-match": '"x"', "if-modified-since": after }, 200],
    ["If-None-Match before If-Modified-Since, match", { "if-none-match": file.etag, "if-modified-since": before }, 304],
    ["If-Modified-Since: the same second", { "if-modified-since": same }, 304],
    ["If-Modified-Since: later", { "if-modified-since": after }, 304],
    ["If-Modified-Since: earlier", { "if-modified-since": before }, 200],
    ["If-Modified-Since: the old form", { "if-modified-since": "Sunday, 01-Mar-26 12:00:00 GMT" }, 304],
    ["If-Modified-Since: the oldest form", { "if-modified-since": "Sun Mar  1 12:00:00 2026" }, 304],
    ["If-Modified-Since: a number", { "if-modified-since": "1999999999" }, 200],
    ["If-Modified-Since: ISO", { "if-modified-since": "2030-01-01T00:00:00Z" }, 200],
    ["If-Modified-Since: another zone", { "if-modified-since": "Fri, 01 Mar 2030 12:00:00 CET" }, 200],
    ["If-Modified-Since: an invalid day", { "if-modified-since": "Fri, 99 Mar 2030 12:00:00 GMT" }, 200],
    ["If-Match: any", { "if-match": "*" }, 200],
    ["If-Match: the tag, which is weak", { "if-match": file.etag }, 412],
    ["If-Match: another", { "if-match": '"x"' }, 412],
    ["If-Match before If-None-Match", { "if-match": '"x"', "if-none-match": file.etag }, 412],
    ["If-Match before If-Unmodified-Since", { "if-match": "*", "if-unmodified-since": before }, 200],
    ["If-Unmodified-Since: the same second", { "if-unmodified-since": same }, 200],
    ["If-Unmodified-Since: later", { "if-unmodified-since": after }, 200],
    ["If-Unmodified-Since: earlier", { "if-unmodified-since": before }, 412],
    ["If-Unmodified-Since: no date", { "if-unmodified-since": "yesterday" }, 200],
  ];

  for (const [title, headers, status] of rows) {
    it(`gives ${status} for ${title}`, () => {
      expect(evaluateConditions(headers, file)).to.equal(status);
    });
  }

  it("finds an entity tag in any list of tags", () => {
    const tag = fc.stringMatching(/^[!#-~]{0,12}$/).map((opaque) => `"${opaque}"`);

    fc.assert(
      fc.property(fc.array(tag, { maxLength: 6 }), fc.boolean(), (tags, isIn) => {
        const list = [...tags.filter((each) => each !== '"1000-abc"'), ...(isIn ? [file.etag] : [])].join(", ");

        expect(evaluateConditions({ "if-none-match": list }, file)).to.equal(isIn ? 304 : 200);
      }),
    );
  });
});

describe("a strong entity tag", () => {
  const strong = { ...file, etag: '"1000-abc"' };
  const matches: readonly (readonly [string, 200 | 412])[] = [
    ['"1000-abc"', 200],
    ['"x", "1000-abc"', 200],
    ["*", 200],
    ['W/"1000-abc"', 412],
    ['"x", W/"1000-abc"', 412],
    ['"x"', 412],
    ["", 412],
  ];

  for (const [header, status] of matches) {
    it(`is compared strongly with If-Match: ${header}`, () => {
      expect(evaluateConditions({ "if-match": header }, strong)).to.equal(status);
    });
  }

  it("is compared weakly with the tags of If-None-Match", () => {
    for (const header of ['"1000-abc"', 'W/"1000-abc"', '"x", W/"1000-abc"'])
      expect(evaluateConditions({ "if-none-match": header }, strong), header).to.equal(304);
  });

  it("makes an If-Range hold, and a weak tag does not", () => {
    expect(isRangeCurrent({ "if-range": '"1000-abc"' }, strong)).to.equal(true);
    expect(isRangeCurrent({ "if-range": 'W/"1000-abc"' }, strong)).to.equal(false);
    expect(isRangeCurrent({ "if-range": file.etag }, file)).to.equal(false);
  });
});

describe("isRangeCurrent", () => {
  const rows: readonly (readonly [string, string | undefined, boolean])[] = [
    ["absent", undefined, true],
    ["the exact date", same, true],
    ["a later date", after, false],
    ["an earlier date", before, false],
    ["the tag, which is weak", file.etag, false],
    ["the same date in another form", "Sunday, 01-Mar-26 12:00:00 GMT", false],
    ["nonsense", "x", false],
  ];

  for (const [title, condition, isCurrent] of rows) {
    it(`allows ${isCurrent ? "the range" : "only the whole file"} for an If-Range of ${title}`, () => {
      const headers = condition === undefined ? {} : { "if-range": condition };

      expect(isRangeCurrent(headers, file)).to.equal(isCurrent);
    });
  }
});

describe("readHttpDate", () => {
  it("reads what writeHttpDate writes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800 }), (seconds) => {
        expect(readHttpDate(formatHttpDate(seconds))).to.equal(seconds);
      }),
    );
  });
});
