import { posix } from "node:path";
import { expect } from "chai";
import * as fc from "fast-check";
import { findFilePath } from "../../../lib/stages/static-files/file-path.js";

describe("findFilePath", () => {
  const rows: readonly (readonly [string, string, string | undefined])[] = [
    ["a file", "/app.js", "/app.js"],
    ["a file further down", "/a/b/c.txt", "/a/b/c.txt"],
    ["a dot inside a name", "/a.b/c..d", "/a.b/c..d"],
    ["a dot at the end of a name", "/a.", "/a."],
    ["encoded letters", "/%61%20b", "/a b"],
    ["letters beyond ASCII", "/%C3%A4", "/ä"],
    ["raw bytes, as Node passes them on", "/\u00c3\u00a4", "/ä"],
    ["an encoded percent sign is decoded once", "/%252e%252e", "/%2e%2e"],
    ["the well-known directory", "/.well-known/security.txt", "/.well-known/security.txt"],
    ["the well-known directory, encoded", "/%2ewell-known/a", "/.well-known/a"],
    ["the well-known directory further down", "/a/.well-known/b", undefined],
    ["a dot file in the well-known directory", "/.well-known/.secret", undefined],
    ["a name that begins with .well-known", "/.well-known-not/a", undefined],
    ["the well-known directory as a file", "/.well-known", undefined],
    ["a dot file", "/.env", undefined],
    ["a dot directory", "/.git/config", undefined],
    ["an encoded dot file", "/%2eenv", undefined],
    ["a dot", "/./a", undefined],
    ["two dots", "/../a", undefined],
    ["two dots further down", "/a/../b", undefined],
    ["two dots at the end", "/a/..", undefined],
    ["two encoded dots", "/%2e%2e/a", undefined],
    ["two dots, one of them encoded", "/.%2E/a", undefined],
    ["an encoded slash", "/a%2fb", undefined],
    ["an encoded slash in capitals", "/a%2Fb", undefined],
    ["two dots with an encoded slash", "/..%2fa", undefined],
    ["a backslash", "/a\\b", undefined],
    ["an encoded backslash", "/a%5cb", undefined],
    ["two dots with backslashes", "/..\\..\\a", undefined],
    ["an overlong dot", "/%c0%ae%c0%ae/a", undefined],
    ["a NUL", "/a%00.txt", undefined],
    ["an incomplete encoding", "/a%2", undefined],
    ["an invalid encoding", "/%zz", undefined],
    ["bytes that are not UTF-8", "/%ff", undefined],
    ["a doubled slash", "//a", undefined],
    ["a doubled slash inside", "/a//b", undefined],
    ["a slash at the end", "/a/", undefined],
    ["the root", "/", undefined],
    ["no slash in front", "a", undefined],
    ["a star", "*", undefined],
    ["an empty path", "", undefined],
  ];

  for (const [title, raw, path] of rows) {
    it(`returns ${path ?? "undefined"}: ${title}`, () => {
      expect(findFilePath(raw)).to.equal(path);
    });
  }

  it("never returns a path out of the root, in any spelling", () => {
    const pieces = [
      "/",
      "..",
      ".",
      "%2e",
      "%2E",
      "%2f",
      "%5c",
      "\\",
      "a",
      "%61",
      "%00",
      "%c0%ae",
      ":",
      "%25",
      "é",
      ".well-known",
    ];
    const anyPieces = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => `/${parts.join("")}`);
    // Names that may be served, with a few other pieces between them.
    const name = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("a", "%61", "%25", "é", ".well-known", "a..b", "%2561") },
      fc.constantFrom(...pieces),
    );
    const names = fc.array(name, { maxLength: 6 }).map((parts) => `/${parts.join("/")}`);
    const spelled = fc.oneof(names, anyPieces);

    // Inputs that are refused do not count as runs.
    fc.assert(
      fc.property(spelled, (raw) => {
        const path = findFilePath(raw);

        fc.pre(path !== undefined);
        expect(posix.resolve("/root", `.${path}`)).to.equal(`/root${path}`);
        expect(path).not.to.match(/[\\\0]/);
        expect(path.replace(/^\/\.well-known\//, "/")).not.to.match(/\/\./);
      }),
      { numRuns: 2000 },
    );
  });
});
