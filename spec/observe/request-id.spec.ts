import { expect } from "chai";
import * as fc from "fast-check";
import type { Extensible } from "../../lib/http/request/extension.js";
import { MAX_REQUEST_ID_BYTES, RequestId } from "../../lib/observe/request-id.js";
import { RequestIdError, type RequestIdErrorReason } from "../../lib/observe/errors.js";
import { anyText } from "../support/any-text.js";
import { errorOf } from "../support/error-of.js";
import { parsedRequest } from "../support/parsed-request.js";

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:@+/=";

const freshIds = Array.from({ length: 5000 }, () => RequestId.fresh().value);

describe("RequestId", () => {
  const valid: readonly (readonly [string, string])[] = [
    ["one character", "a"],
    ["every allowed character", ALPHABET],
    ["a UUID", "0F8FAD5B-d9cb-469f-a165-70867728950e"],
    ["base64 with padding", "q83vASNFZ4k+/w=="],
    ["128 bytes", "x".repeat(128)],
  ];
  const invalid: readonly (readonly [string, string, RequestIdErrorReason])[] = [
    ["an empty text", "", "empty"],
    ["129 bytes", "x".repeat(129), "too-large"],
    ["a megabyte", "x".repeat(1_000_000), "too-large"],
    ["129 bytes, one of them not allowed", `${"x".repeat(128)} `, "too-large"],
    ["128 characters in 129 bytes", `${"x".repeat(127)}é`, "too-large"],
    ["65 characters in 130 bytes", "é".repeat(65), "too-large"],
    ["64 characters in 128 bytes, none allowed", "é".repeat(64), "invalid-char"],
    ["one space", " ", "invalid-char"],
    ["a space before", " a", "invalid-char"],
    ["a space after", "a ", "invalid-char"],
    ["a tab", "a\tb", "invalid-char"],
    ["CR and LF", "a\r\nx-evil: 1", "invalid-char"],
    ["NUL", "a\u0000", "invalid-char"],
    ["DEL", "a\u007f", "invalid-char"],
    ["a comma", "a,b", "invalid-char"],
    ["a quote", 'a"b', "invalid-char"],
    ["a backslash", "a\\b", "invalid-char"],
    ["markup", "<script>", "invalid-char"],
    ["a letter outside ASCII", "ä", "invalid-char"],
    ["full-width digits", "１２", "invalid-char"],
    ["a letter that lower-cases to ASCII", "\u212a", "invalid-char"],
    ["a lone surrogate", "\ud800", "invalid-char"],
  ];

  it("has at most 128 bytes", () => {
    expect(MAX_REQUEST_ID_BYTES).to.equal(128);
  });

  for (const [title, text] of valid) {
    it(`keeps ${title}`, () => {
      expect(RequestId.fromHeader(text).value).to.equal(text);
      expect(RequestId.parse(text).value).to.equal(text);
      expect(String(RequestId.parse(text))).to.equal(text);
    });
  }

  for (const [title, text, reason] of invalid) {
    it(`replaces ${title} with a fresh id, and parse() throws ${reason}`, () => {
      expect(RequestId.fromHeader(text).value).to.match(UUID_V4);
      expect(errorOf(() => RequestId.parse(text)))
        .to.be.instanceOf(RequestIdError)
        .that.includes({ reason, code: "E_REQUEST_ID" });
    });
  }

  it("allows only the characters of the alphabet", () => {
    const codes = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));

    const allowed = codes.filter((character) => RequestId.fromHeader(`a${character}b`).value === `a${character}b`);

    expect(allowed).to.have.members(ALPHABET.split(""));
  });

  it("creates a fresh id if there is no header", () => {
    expect(RequestId.fromHeader(undefined).value).to.match(UUID_V4);
  });

  it("creates a fresh id for a value that is not a string", () => {
    for (const value of [null, ["abc"], 7, {}, Symbol("abc"), { length: 3, charCodeAt: () => 65 }]) {
      expect(RequestId.fromHeader(value as unknown as string).value).to.match(UUID_V4);
    }
  });

  it("creates fresh ids that are UUIDs of version 4 (RFC 9562), all different", () => {
    expect(freshIds.filter((id) => !UUID_V4.test(id))).to.deep.equal([]);
    expect(new Set(freshIds).size).to.equal(freshIds.length);
  });

  it("creates fresh ids that are random in every digit except version and variant", () => {
    const kinds = Array.from({ length: 36 }, (_, index) => new Set(freshIds.map((id) => id.charAt(index))).size);

    expect(kinds.join(" ")).to.equal(
      "16 16 16 16 16 16 16 16 1 16 16 16 16 1 1 16 16 16 1 4 16 16 16 1 16 16 16 16 16 16 16 16 16 16 16 16",
    );
  });

  it("names size and limit of a text that is too large, and does not repeat the text", () => {
    const error = errorOf(() => RequestId.parse(`secret${"é".repeat(100)}`));

    expect(error).to.include({ reason: "too-large", size: 206, limit: 128 });
    expect(error.message).to.include("206").and.not.to.include("secret");
  });

  it("names no size for the other reasons", () => {
    expect(errorOf(() => RequestId.parse("a b"))).to.include({ size: undefined, limit: undefined });
  });

  it("is found only on the request that it was set on", () => {
    const [one, other]: [Extensible, Extensible] = [{ extensions: undefined }, { extensions: undefined }];
    const id = RequestId.parse("a");

    RequestId.set(one, id);

    expect(RequestId.of(one)).to.equal(id);
    expect(RequestId.of(other)).to.equal(undefined);
  });

  describe("of a received request", () => {
    const rows: readonly (readonly [string, readonly string[], string | undefined])[] = [
      ["a valid header", ["x-request-id: abc"], "abc"],
      ["its name in any case", ["X-REQUEST-ID: abc"], "abc"],
      ["the first of two headers", ["x-request-id: first", "x-request-id: second"], "first"],
      ["two headers, the first invalid", ["x-request-id: a b", "x-request-id: second"], undefined],
      ["two headers, the first empty", ["x-request-id:", "x-request-id: second"], undefined],
      ["a list in one header", ["x-request-id: first, second"], undefined],
      ["an empty header", ["x-request-id: "], undefined],
      ["a header with a letter outside ASCII", ["x-request-id: \u00e9"], undefined],
      ["no header", [], undefined],
    ];

    for (const [title, lines, value] of rows) {
      it(`${value === undefined ? "is fresh" : "is taken"}: ${title}`, async () => {
        const id = RequestId.fromRequest(await parsedRequest(...lines));

        if (value === undefined) expect(id.value).to.match(UUID_V4);
        else expect(id.value).to.equal(value);
      });
    }
  });

  describe("of any text", () => {
    const text = fc.oneof(fc.string(), anyText(), fc.string({ unit: fc.constantFrom("a", "=", "é") }));

    it("is a text of 1 to 128 allowed characters", () => {
      fc.assert(
        fc.property(text, (sent) => {
          expect(RequestId.fromHeader(sent).value).to.match(/^[\w.:@+/=-]{1,128}$/u);
        }),
      );
    });

    it("is the text itself if and only if the text can be parsed", () => {
      fc.assert(
        fc.property(text, (sent) => {
          const isKept = RequestId.fromHeader(sent).value === sent;

          if (isKept) expect(RequestId.parse(sent).value).to.equal(sent);
          else expect(errorOf(() => RequestId.parse(sent))).to.be.instanceOf(RequestIdError);
        }),
      );
    });

    it("is valid as the next request's id", () => {
      fc.assert(
        fc.property(text, (sent) => {
          const { value } = RequestId.fromHeader(sent);

          expect(RequestId.fromHeader(value).value).to.equal(value);
        }),
      );
    });
  });
});
