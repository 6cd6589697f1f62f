import { randomBytes } from "node:crypto";
import { UrlSigner } from "@stagecraft/framework/crypto";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import * as fc from "fast-check";

const ORIGIN = "https://shop.example";
const KEY = "0123456789abcdef".repeat(8);
const NEXT_KEY = "fedcba9876543210".repeat(8);
const clock = new FakeClock();
const expiresAt = new Date(clock.now() + 60_000);
const signer = new UrlSigner(KEY, ORIGIN, { clock });
const PATH = "/files/a%20b.pdf?size=large&tag=1&tag=2&empty=";
const url = signer.sign("GET", PATH, { expiresAt });
const target = url.slice(ORIGIN.length);

describe("a signed URL", () => {
  it("is absolute, and has the path, its parameters, the deadline and the signature", () => {
    expect(url).to.match(
      new RegExp(
        String.raw`^${ORIGIN}/files/a%20b\.pdf\?size=large&tag=1&tag=2&empty=&expires=\d+&signature=[\w-]{43}$`,
      ),
    );
    expect(url).to.include(`&expires=${expiresAt.getTime()}&`);
    expect(signer.sign("GET", "/", { expiresAt })).to.match(/^https:\/\/shop\.example\/\?expires=/);
  });

  it("is valid as a URL and as the target of a request, for its method and for HEAD", () => {
    expect([signer.verify("GET", url), signer.verify("GET", target), signer.verify("HEAD", target)]).to.deep.equal([
      true,
      true,
      true,
    ]);
    for (const method of ["POST", "get", "", "GET\nhttps://shop.example"])
      expect(signer.verify(method, url), method).to.equal(false);
    expect(signer.verify("GET", signer.sign("HEAD", PATH, { expiresAt }))).to.equal(true);
  });

  it("is valid in the millisecond of its deadline, and not after it", () => {
    const later = new FakeClock();
    const early = new UrlSigner(KEY, ORIGIN, { clock: later });
    const timed = early.sign("GET", "/", { expiresAt: new Date(later.now() + 5) });

    later.advance(5);
    expect(early.verify("GET", timed)).to.equal(true);
    later.advance(1);
    expect(early.verify("GET", timed)).to.equal(false);
  });

  it("is bound to the origin", () => {
    for (const origin of ["https://other.example", "http://shop.example", "https://shop.example:8443"]) {
      const other = new UrlSigner(KEY, origin, { clock });
      expect(other.verify("GET", target), origin).to.equal(false);
      expect(other.verify("GET", url), origin).to.equal(false);
      expect(signer.verify("GET", origin + target), origin).to.equal(false);
    }
  });

  it("is valid in each spelling of its origin, and without a user", () => {
    for (const same of ["HTTPS://Shop.Example", "https://shop.example:443", "https://shop.example:0443"])
      expect(signer.verify("GET", same + target), same).to.equal(true);
    for (const other of [
      "https://shop.example.",
      "https://u@shop.example",
      "https://:@shop.example",
      "//shop.example",
      " https://shop.example",
      "https:shop.example",
      "https:\\\\shop.example",
      "https://shop.ex\tample",
    ])
      expect(signer.verify("GET", other + target), other).to.equal(false);
  });

  it("may have its parameters in any order, and those of one name only in theirs", () => {
    const [path = "", query = ""] = url.split("?");
    const pairs = query.split("&");
    fc.assert(
      fc.property(fc.shuffledSubarray(pairs, { minLength: pairs.length }), (shuffled) => {
        const inOrder = shuffled.indexOf("tag=1") < shuffled.indexOf("tag=2");
        expect(signer.verify("GET", `${path}?${shuffled.join("&")}`)).to.equal(inOrder);
      }),
    );
  });

  it("keeps the order of a name that has two spellings", () => {
    const spelt = signer.sign("GET", "/?%74ag=1&tag=2", { expiresAt });

    expect(signer.verify("GET", spelt.replace("%74ag=1&tag=2", "tag=2&%74ag=1"))).to.equal(false);
  });

  it("is not valid after a change of one byte, unless it is the same URL", function () {
    this.timeout(60_000);
    const valid: string[] = [];
    for (let at = 0; at < url.length; at += 1)
      for (let code = 0; code < 256; code += 1) {
        const changed = url.slice(0, at) + String.fromCharCode(code) + url.slice(at + 1);
        if (changed !== url && signer.verify("GET", changed)) valid.push(changed);
      }

    // Only the case of the origin's letters is free.
    expect(valid).to.have.length("httpsshopexample".length);
    for (const each of valid)
      expect(each.toLowerCase().startsWith(ORIGIN) && each.endsWith(target), each).to.equal(true);
  });

  it("is not valid with a byte more or less", () => {
    fc.assert(
      fc.property(fc.nat(url.length), fc.string({ unit: "binary", minLength: 1, maxLength: 3 }), (at, added) => {
        expect(signer.verify("GET", url.slice(0, at) + added + url.slice(at))).to.equal(false);
        if (at < url.length) expect(signer.verify("GET", url.slice(0, at) + url.slice(at + 1))).to.equal(false);
      }),
      { numRuns: 2000 },
    );
  });

  it("is not valid in another spelling of its path or its parameters", () => {
    const others: readonly (readonly [string, string])[] = [
      ["/files/", "//files/"],
      ["/files/", "/files//"],
      ["/files/", "/./files/"],
      ["/files/", "/x/../files/"],
      ["/files/", "/f%69les/"],
      ["a%20b", "a+b"],
      ["a%20b", "a b"],
      [".pdf", ".pdf/"],
      ["empty=", "empty"],
      ["&empty=", ""],
      ["&tag=1", ""],
      ["size=large", "size=large&size=large"],
      ["expires=", "expires=9&expires="],
      ["signature=", "signature=&signature="],
      ["signature=", "Signature="],
    ];
    for (const [from, to] of others) expect(signer.verify("GET", url.replace(from, to)), to).to.equal(false);
    for (const end of ["#", "#x", "&", "&x", "=", "\n", " "])
      expect(signer.verify("GET", url + end), end).to.equal(false);
  });

  it("is signed by the first key and valid under all", () => {
    const rotated = new UrlSigner([NEXT_KEY, KEY], ORIGIN, { clock });
    const onlyNew = new UrlSigner(NEXT_KEY, ORIGIN, { clock });

    expect(rotated.verify("GET", url)).to.equal(true);
    expect(onlyNew.verify("GET", url)).to.equal(false);
    expect(onlyNew.verify("GET", rotated.sign("GET", PATH, { expiresAt }))).to.equal(true);
  });
});

describe("UrlSigner.verify", () => {
  it("returns false for any text and any value, and never throws", () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: "binary" }), (method, text) => {
        expect(signer.verify(method, text)).to.equal(false);
      }),
    );
    for (const value of [undefined, null, 7, {}, [], Symbol("x"), new URL(url)])
      expect(signer.verify("GET", value as string)).to.equal(false);
    expect(signer.verify(undefined as unknown as string, url)).to.equal(false);
  });

  it("refuses 100 kB before it computes anything", () => {
    const long = [
      `${url}&x=${"a".repeat(100_000)}`,
      `/?${"a&".repeat(50_000)}`,
      "%".repeat(100_000),
      `https://${"a".repeat(100_000)}`,
    ];
    const start = performance.now();
    for (let count = 0; count < 1000; count += 1)
      for (const each of long) expect(signer.verify("GET", each)).to.equal(false);

    // An HMAC over these bytes alone takes about a minute.
    expect(performance.now() - start).to.be.below(5000);
  });
});

describe("UrlSigner", () => {
  it("signs every path that the URL parser leaves as it is, and verifies it", () => {
    fc.assert(
      fc.property(fc.webPath(), fc.webQueryParameters(), (path, query) => {
        const given = `/${path.replace(/^\/+/, "")}?${query}`;
        fc.pre(new URL(ORIGIN + given).href === ORIGIN + given);
        expect(signer.verify("GET", signer.sign("GET", given, { expiresAt })), given).to.equal(true);
      }),
    );
  });

  it("signs only paths that arrive as they are signed", () => {
    for (const path of [
      "",
      "files",
      "https://shop.example/",
      "//other.example/",
      "/a#b",
      "/a b",
      "/ä",
      "/a/../b",
      "/./a",
      "/a\\b",
      "/a\nb",
      "/?expires=1",
      "/?a=1&signature=x",
      "/?%65xpires=1",
      `/${"a".repeat(8192)}`,
    ])
      expect(() => signer.sign("GET", path, { expiresAt }), path)
        .to.throw(/^a signed URL has /)
        .with.property("code", "E_SIGNED_URL");
    for (const method of ["get", "", "GET ", "G\nT"])
      expect(() => signer.sign(method, "/", { expiresAt }), method).to.throw("is no method of a signed URL");
    for (const time of [new Date(NaN), 1_800_000_000_000, undefined])
      expect(() => signer.sign("GET", "/", { expiresAt: time as Date })).to.throw("is no valid Date");
  });

  it("takes an origin, and keys of 64 bytes", () => {
    for (const origin of [
      "https://shop.example/",
      "HTTPS://shop.example",
      "shop.example",
      "ftp://shop.example",
      "https://u@shop.example",
      "",
      undefined,
    ])
      expect(() => new UrlSigner(KEY, origin as string), origin)
        .to.throw("is no origin")
        .with.property("code", "E_SIGNED_URL");
    for (const key of ["", "short", randomBytes(32), [], [KEY, "x"]])
      expect(() => new UrlSigner(key, ORIGIN))
        .to.throw("a key is 64 random bytes")
        .with.property("code", "E_CRYPTO_KEY");
    expect(() => new UrlSigner(KEY, ORIGIN, { Clock: clock } as object)).to.throw("is not an option");
  });

  it("accepts the same key as text, as bytes and as a key object", () => {
    const bytes = Buffer.from(KEY, "hex");

    for (const key of [bytes, new Uint8Array(bytes), KEY.toUpperCase(), [bytes]])
      expect(new UrlSigner(key, ORIGIN, { clock }).verify("GET", url)).to.equal(true);
  });
});
