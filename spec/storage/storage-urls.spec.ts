import { expect } from "chai";
import * as fc from "fast-check";
import { StorageUrls } from "../../lib/storage/storage-urls.js";

const KEY = "0123456789abcdef".repeat(4);
const EXPIRES = 1_800_000_000_000;
const urls = new StorageUrls({ base: "https://shop.example/files", key: KEY });
const terms = { expires: new Date(EXPIRES), disposition: 'attachment; filename="a b.pdf"' };
const url = urls.download("scans/ä b.pdf", terms);
const target = url.slice("https://shop.example".length);

const verifies = (given: string, method = "GET", now = EXPIRES, by = urls): boolean => {
  try {
    return by.verify(method, given, now) !== undefined;
  } catch {
    return false;
  }
};

describe("a signed URL", function () {
  this.timeout(60_000);
  it("is verified until its deadline, which belongs to the time", () => {
    expect(urls.verify("GET", target, EXPIRES)).to.deep.include({ disposition: terms.disposition });
    expect(verifies(target, "HEAD")).to.equal(true);
    expect(verifies(target, "GET", EXPIRES + 1)).to.equal(false);
  });

  it("is refused for another method, origin, base, key or file", () => {
    expect(verifies(target, "PUT")).to.equal(false);
    for (const [base, key] of [
      ["https://other.example/files", KEY],
      ["http://shop.example/files", KEY],
      ["https://shop.example:8443/files", KEY],
      ["https://shop.example/files", "1123456789abcdef".repeat(4)],
    ] as const)
      expect(verifies(target, "GET", EXPIRES, new StorageUrls({ base, key })), base).to.equal(false);
    expect(verifies(target.replace("scans", "scanz"))).to.equal(false);
  });

  it("accepts its parameters in any order", () => {
    const [path = "", query = ""] = target.split("?");
    const pairs = query.split("&");

    fc.assert(
      fc.property(fc.shuffledSubarray(pairs, { minLength: pairs.length }), (shuffled) => {
        expect(verifies(`${path}?${shuffled.join("&")}`)).to.equal(true);
      }),
    );
  });

  it("is refused with any change of one byte", () => {
    fc.assert(
      fc.property(fc.nat(target.length - 1), fc.integer({ min: 0x21, max: 0x7e }), (at, code) => {
        const byte = String.fromCharCode(code);
        fc.pre(byte !== target[at]);
        const changed = target.slice(0, at) + byte + target.slice(at + 1);
        const less = target.slice(0, at) + target.slice(at + 1);
        expect(verifies(changed), changed).to.equal(false);
        expect(verifies(less), less).to.equal(false);
      }),
      { numRuns: 2000 },
    );
  });

  it("is refused with a repeated, missing or further parameter", () => {
    const signature = /signature=[^&]*/.exec(target)?.[0] ?? "";

    for (const changed of [
      `${target}&${signature}`,
      `${target}&expires=9`,
      `${target}&x`,
      `${target}?`,
      `${target}?x=1`,
      target.replace(`&${signature}`, ""),
    ])
      expect(verifies(changed), changed).to.equal(false);
    expect(urls.verify("GET", target.split("?")[0] ?? "", EXPIRES)).to.equal(undefined);
  });

  it("fixes type and size of an upload", () => {
    const upload = urls.upload("a", { expires: new Date(EXPIRES), type: "image/png", size: 7 });

    const verified = urls.verify("PUT", upload.url.slice("https://shop.example".length), EXPIRES);

    expect(upload.headers).to.deep.equal({ "Content-Type": "image/png", "Content-Length": "7" });
    expect(verified).to.deep.include({ type: "image/png", size: 7 });
  });
});

describe("the setting of signed URLs", () => {
  it("is an absolute URL and a key of 32 bytes", () => {
    const key = Buffer.alloc(32);
    for (const base of [
      "/files",
      "ftp://a.example/",
      "https://a.example/?x",
      "https://u@a.example/",
      "https://a.example/#x",
      "",
    ])
      expect(() => new StorageUrls({ base, key }), base)
        .to.throw()
        .with.property("code", "E_STORAGE_URLS");
    for (const short of ["", "secret", "ab".repeat(31), Buffer.alloc(31)])
      expect(() => new StorageUrls({ base: "https://a.example", key: short }))
        .to.throw()
        .with.property("code", "E_STORAGE_URLS");
    expect(new StorageUrls({ base: "https://a.example", key }).publicUrl("a/b c")).to.equal(
      "https://a.example/a/b%20c",
    );
  });
});
