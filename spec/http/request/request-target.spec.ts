/** A request target split into its parts: each form of RFC 9112 section 3.2, and the malformed ones that clients send. */
import { expect } from "chai";
import * as fc from "fast-check";
import { getPath, getQuery } from "../../../lib/http/request/request-target.js";

const TABLE: readonly (readonly [target: string, path: string, query: string])[] = [
  ["/", "/", ""],
  ["/links/7", "/links/7", ""],
  ["/links/7?a=1", "/links/7", "?a=1"],
  ["/links/7?a=1?b", "/links/7", "?a=1?b"],
  ["/links/7?", "/links/7", "?"],
  ["/?http://other.example/x", "/", "?http://other.example/x"],
  ["/http://x", "/http://x", ""],
  ["//other.example/x?a", "//other.example/x", "?a"],
  ["/links#top", "/links", ""],
  ["/links?a=1#top", "/links", "?a=1"],
  ["/links#top?a=1", "/links", ""],
  ["http://h/links?a=1", "/links", "?a=1"],
  ["http://h", "/", ""],
  ["http://h?a=/x", "/", "?a=/x"],
  ["http://h#a/x?y", "/", ""],
  ["http://user:word@h:80/x#y", "/x", ""],
  ["*", "*", ""],
  ["*?a=1", "*", "?a=1"],
  ["*#a?b=1", "*", ""],
  ["*?a=http://h/x", "*", "?a=http://h/x"],
  ["h:80?a", "h:80", "?a"],
  ["?a", "", "?a"],
  ["", "", ""],
];

describe("a request target", () => {
  for (const [target, path, query] of TABLE) {
    it(`${JSON.stringify(target)} has the path ${JSON.stringify(path)} and the query ${JSON.stringify(query)}`, () => {
      expect([getPath(target), getQuery(target)]).to.deep.equal([path, query]);
    });
  }

  it("has no text after the first ? or # in its path", () => {
    const begin = fc.constantFrom("/", "*", "", "x", "http://h", "http://h/", "//h", "a://b:c@d/e");
    const rest = fc.string({ unit: fc.constantFrom("/", ":", "?", "#", "a", "*", "://") });
    fc.assert(
      fc.property(begin, rest, fc.constantFrom("?", "#"), rest, (start, before, mark, after) => {
        const path = getPath(start + before + mark + `CANARY${after}`);

        expect(path).not.to.match(/[?#]|CANARY/);
      }),
    );
  });
});
