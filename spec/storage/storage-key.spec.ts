import { expect } from "chai";
import * as fc from "fast-check";
import { checkMediaType, checkMetadata, checkStorageKey, checkStoragePrefix } from "../../lib/storage/storage-key.js";
import { anyText } from "../support/any-text.js";

const accepts = (check: (value: unknown) => unknown, value: unknown): boolean => {
  try {
    check(value);
    return true;
  } catch {
    return false;
  }
};
const isMetadata = (metadata: unknown): boolean =>
  accepts((value) => checkMetadata(value as Readonly<Record<string, string>>), metadata);
const isKey = (value: unknown): boolean => accepts(checkStorageKey, value);
const isPrefix = (value: unknown): boolean => accepts(checkStoragePrefix, value);

/** Texts that are often nearly a key. */
const nearlyKeys = fc
  .array(
    fc.oneof(
      fc.constantFrom("a", "..", ".", "", ".~x", "…", "\\", "e\u0301", "é", "\u0000", "%2f", "\ud800", "~."),
      anyText({ maxLength: 6 }),
      fc.string({ unit: "grapheme", maxLength: 6 }),
    ),
    { maxLength: 6 },
  )
  .map((segments) => segments.join("/"));

describe("a key of a storage", function () {
  this.timeout(60_000);
  const ROWS: readonly (readonly [key: unknown, fault: string | undefined])[] = [
    ["a", undefined],
    ["avatars/7/face 1.png", undefined],
    ["日本/語", undefined],
    ["a...b/..c/d..", undefined],
    ["~/.profile", undefined],
    ["é".repeat(127) + "x", undefined],
    [`${"x/".repeat(511)}ab`, undefined],
    ["", "is a text that is not empty"],
    [7, "is a text that is not empty"],
    [undefined, "is a text that is not empty"],
    [["a"], "is a text that is not empty"],
    [`${"x/".repeat(511)}abc`, "has at most 1024 bytes"],
    ["é".repeat(128), "has at most 255 bytes in a segment"],
    ["/etc/passwd", "does not start with a slash"],
    ["a/../../b", 'has no segment "." or ".."'],
    ["./a", 'has no segment "." or ".."'],
    ["a//b", "has no empty segment"],
    ["a/", "has no empty segment"],
    ["a\\..\\b", "has no backslash"],
    ["a\0.png", "has no control character"],
    ["a\u009f", "has no control character"],
    ["a\uffff", "has no control character"],
    ["cafe\u0301", "Normalization Form C"],
    ["\u212bngström", "Normalization Form C"],
    ["\ud83d", "is well-formed Unicode"],
    ["a/.~b", 'has no segment that starts with ".~"'],
  ];

  for (const [key, fault] of ROWS) {
    const shown =
      typeof key === "string" && key.length < 40 ? JSON.stringify(key) : `${typeof key} of ${String(key).length}`;
    it(fault === undefined ? `may be ${shown}` : `is not ${shown}: it ${fault}`, () => {
      if (fault === undefined) expect(() => checkStorageKey(key)).not.to.throw();
      else
        expect(() => checkStorageKey(key))
          .to.throw(fault)
          .with.property("code", "E_STORAGE_KEY");
    });
  }

  it("stays below its root, names one file only, and survives a URL", () => {
    fc.assert(
      fc.property(nearlyKeys, (key) => {
        fc.pre(isKey(key));
        expect(new URL(`file:///root/${key.split("/").map(encodeURIComponent).join("/")}`).pathname).to.match(
          /^\/root\/./,
        );
        expect(decodeURIComponent(encodeURIComponent(key))).to.equal(key);
        expect(key.normalize("NFC")).to.equal(key);
        expect(Buffer.byteLength(key)).to.be.within(1, 1024);
      }),
      { numRuns: 2000 },
    );
  });

  it("is refused by a message that does not quote it", () => {
    fc.assert(
      fc.property(fc.constantFrom("/", "../", "\0", "\\"), (wrong) => {
        expect(() => checkStorageKey(`canary4711secret${wrong}`))
          .to.throw()
          .with.property("message")
          .not.include("canary");
      }),
    );
  });

  it("starts with a prefix: each part of a key up to a character is one", () => {
    fc.assert(
      fc.property(nearlyKeys, fc.nat(), (key, at) => {
        fc.pre(isKey(key));
        const prefix = Array.from(key)
          .slice(0, at % (key.length + 1))
          .join("");
        const isBroken = /(^|\/)\.~?$/.test(prefix) || prefix.normalize("NFC") !== prefix || /(^|\/)\.\.$/.test(prefix);
        fc.pre(!isBroken);
        expect(isPrefix(prefix)).to.equal(Buffer.byteLength(prefix) < 1024);
      }),
      { numRuns: 1000 },
    );
    for (const prefix of ["", "a", "a/", "a/.", "a/.."]) expect(isPrefix(prefix), prefix).to.equal(true);
    for (const prefix of ["/", "a//", "../a", "a/../", "\0", 7, undefined]) expect(isPrefix(prefix)).to.equal(false);
  });
});

describe("the description of a stored file", () => {
  it("has a media type", () => {
    for (const type of ["image/png", "text/plain; charset=utf-8", 'text/x; a="b c"', "application/vnd.a+json"])
      expect(accepts(checkMediaType, type), type).to.equal(true);
    for (const type of [
      "",
      "text",
      "text/",
      "/x",
      "text/html\r\nX: 1",
      "text/html; charset",
      "a b/c",
      "x/".padEnd(300, "y"),
      1,
    ])
      expect(accepts(checkMediaType, type), String(type)).to.equal(false);
  });

  it("has metadata that fit into headers", () => {
    for (const good of [{}, { a: "1" }, { "uploaded-by": "user 7 (x)" }, { a: "é" }, { a: "Ελλάδα 🎉" }])
      expect(isMetadata(good)).to.equal(true);
    for (const bad of [
      { A: "1" },
      { "a b": "1" },
      { a: "" },
      { a: " x" },
      { a: "half \uD83D" },
      { a: "\u2028" },
      { a: "x\ny" },
      { a: 1 },
      { "": "x" },
      { "stagecraft-visibility": "public" },
    ])
      expect(isMetadata(bad), JSON.stringify(bad)).to.equal(false);
    expect(isMetadata({ a: "x".repeat(1023) })).to.equal(true);
    expect(isMetadata({ a: "x".repeat(1024) })).to.equal(false);
    expect(isMetadata({ a: "é".repeat(376) })).to.equal(true);
    expect(isMetadata({ a: "é".repeat(400) })).to.equal(false);
  });
});
