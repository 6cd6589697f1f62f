import { expect } from "chai";
import * as fc from "fast-check";
import { toLocalTarget, toRedirectTarget } from "../../../lib/http/request/request-target.js";
import { anyText } from "../../support/any-text.js";

const HERE = "http://here.example";

describe("the target of a rewrite", () => {
  const rows: readonly (readonly [string, string, string | undefined])[] = [
    ["a path", "/a/b", "/a/b"],
    ["a path and a query", "/a?b=c&d=%20", "/a?b=c&d=%20"],
    ["a query with a URL in it", "/a?to=https://x.example//", "/a?to=https://x.example//"],
    ["percent-encoded bytes stay", "/%2e%2e/%ff", "/%2e%2e/%ff"],
    ["letters beyond ASCII are encoded", "/ä/漢?ö", "/%C3%A4/%E6%BC%A2?%C3%B6"],
    ["blanks are encoded", "/a b", "/a%20b"],
    ["an authority", "//evil.example/a", undefined],
    ["a scheme", "https://evil.example/a", undefined],
    ["another scheme", "javascript:alert(1)", undefined],
    ["a fragment", "/a#b", undefined],
    ["a line break", "/a\r\nX: y", undefined],
    ["a tab", "/a\tb", undefined],
    ["a NUL", "/a\0", undefined],
    ["a relative path", "a/b", undefined],
    ["a star", "*", undefined],
    ["nothing", "", undefined],
    ["half a surrogate pair", "/\ud800", undefined],
  ];

  for (const [title, url, target] of rows) {
    it(`${target === undefined ? "is refused" : `is ${target}`}: ${title}`, () => {
      expect(toLocalTarget(url)).to.equal(target);
    });
  }
});

describe("the target of a redirect", () => {
  const rows: readonly (readonly [string, string, string | undefined])[] = [
    ["a path", "/a?b#c", "/a?b#c"],
    ["a path beyond ASCII", "/ä", "/%C3%A4"],
    ["an absolute URL, letter by letter", "https://x.example", "https://x.example"],
    ["an absolute URL in capitals", "HTTP://x.example/A", "HTTP://x.example/A"],
    ["an absolute URL beyond ASCII", "https://ä.example/ö", "https://xn--4ca.example/%C3%B6"],
    ["an authority alone", "//evil.example", undefined],
    ["an authority behind a backslash", "/\\evil.example", undefined],
    ["a backslash further on", "/a\\b", undefined],
    ["a scheme that runs", "javascript:alert(1)", undefined],
    ["data", "data:text/html,x", undefined],
    ["no host", "https://", undefined],
    ["a slash for a host", "https:///evil.example", undefined],
    ["a host that is none", "https://a b/", undefined],
    ["a line break", "/a\r\nSet-Cookie: a=b", undefined],
    ["a line break behind a host", "https://x.example/\r\nSet-Cookie: a=b", undefined],
    ["a blank before", " https://x.example", undefined],
    ["a relative path", "a", undefined],
    ["nothing", "", undefined],
  ];

  for (const [title, location, target] of rows) {
    it(`${target === undefined ? "is refused" : `is ${target}`}: ${title}`, () => {
      expect(toRedirectTarget(location)).to.equal(target);
    });
  }

  it("is computed the same way after many calls", () => {
    const wrong = Array.from({ length: 20_000 }, () => toRedirectTarget("https://ä.example/ö")).filter(
      (target) => target === undefined,
    );

    expect(wrong).to.have.length(0);
  });

  it("that starts with a slash never leads to another host", () => {
    const hostile = fc.string({
      unit: fc.constantFrom("/", "\\", "\t", "\n", ".", "@", ":", "evil.example", "#", "?", " ", "%5c"),
    });

    fc.assert(
      fc.property(hostile, (rest) => {
        const target = toRedirectTarget(`/${rest}`);

        fc.pre(target !== undefined);
        expect(new URL(target, HERE).origin).to.equal(HERE);
      }),
      { numRuns: 500 },
    );
  });

  it("is always visible ASCII", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        for (const target of [
          toRedirectTarget(`/${text}`),
          toLocalTarget(`/${text}`),
          toRedirectTarget(`https://a/${text}`),
        ]) {
          expect(target ?? "").to.match(/^[!-~]*$/);
        }
      }),
    );
  });
});
