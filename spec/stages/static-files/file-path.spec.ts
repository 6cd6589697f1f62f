import { posix } from "node:path";
import { expect } from "chai";
import * as fc from "fast-check";
import { filePathOf } from "../../../lib/stages/static-files/file-path.js";

describe("the path of a static file", () => {
  const rows: readonly (readonly [string, string, string | undefined])[] = [
    ["a file", "/app.js", "/app.js"],
    ["a file further down", "/a/b/c.txt", "/a/b/c.txt"],
    ["a dot inside a name", "/a.b/c..d", "/a.b/c..d"],
    ["a dot at the end of a name", "/a.", "/a."],
    ["encoded letters", "/%61%20b", "/a b"],
    ["letters beyond ASCII", "/%C3%A4", "/ä"],
    ["raw octets, as Node hands them on", "/\u00c3\u00a4", "/ä"],
    ["an encoded percent sign is decoded once", "/%252e%252e", "/%2e%2e"],
    ["the well-known directory", "/.well-known/security.txt", "/.well-known/security.txt"],
    ["the well-known directory, encoded", "/%2ewell-known/a", "/.well-known/a"],
    ["the well-known directory further down", "/a/.well-known/b", undefined],
    ["a dot file in the well-known directory", "/.well-known/.secret", undefined],
    ["a name that begins like it", "/.well-known-not/a", undefined],
    ["the well-known directory as a file", "/.well-known", undefined],
    ["a dot file", "/.env", undefined],
    ["a dot directory", "/.git/config", undefined],
    ["an encoded dot file", "/%2eenv", undefined],
    ["here", "/./a", undefined],
    ["up", "/../a", undefined],
    ["up, further down", "/a/../b", undefined],
    ["up, at the end", "/a/..", undefined],
    ["up, encoded", "/%2e%2e/a", undefined],
    ["up, half encoded", "/.%2E/a", undefined],
    ["an encoded slash", "/a%2fb", undefined],
    ["an encoded slash in capitals", "/a%2Fb", undefined],
    ["up with an encoded slash", "/..%2fa", undefined],
    ["a backslash", "/a\\b", undefined],
    ["an encoded backslash", "/a%5cb", undefined],
    ["up with backslashes", "/..\\..\\a", undefined],
    ["an overlong dot", "/%c0%ae%c0%ae/a", undefined],
    ["a NUL", "/a%00.txt", undefined],
    ["half an encoding", "/a%2", undefined],
    ["no encoding", "/%zz", undefined],
    ["octets that are no UTF-8", "/%ff", undefined],
    ["a doubled slash", "//a", undefined],
    ["a doubled slash inside", "/a//b", undefined],
    ["a slash at the end", "/a/", undefined],
    ["the root", "/", undefined],
    ["no slash in front", "a", undefined],
    ["a star", "*", undefined],
    ["nothing", "", undefined],
  ];

  for (const [title, raw, path] of rows) {
    it(`${title}: ${path ?? "none"}`, () => {
      expect(filePathOf(raw)).to.equal(path);
    });
  }

  it("never leads up, nor anywhere but where it says, however it is spelled", () => {
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
    const spelled = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => `/${parts.join("")}`);

    fc.assert(
      fc.property(spelled, (raw) => {
        const path = filePathOf(raw);

        if (path === undefined) return;
        expect(posix.resolve("/root", `.${path}`)).to.equal(`/root${path}`);
        expect(path).not.to.match(/[\\\0]/);
        expect(path.replace(/^\/\.well-known\//, "/")).not.to.match(/\/\./);
      }),
      { numRuns: 2000 },
    );
  });
});
