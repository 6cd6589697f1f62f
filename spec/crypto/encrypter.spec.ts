import { createSecretKey, randomBytes } from "node:crypto";
import { environment, variable } from "@stagecraft/framework";
import { Encrypter, UrlSigner } from "@stagecraft/framework/crypto";
import { SessionConfig } from "@stagecraft/framework/session";
import { expect } from "chai";
import * as fc from "fast-check";

const KEY = "0123456789abcdef".repeat(8);
const NEXT_KEY = "fedcba9876543210".repeat(8);
const encrypter = new Encrypter(KEY);
const context = "accounts.iban";
const sealed = encrypter.encrypt("DE02120300000000202051", { context });

describe("an encrypted value", () => {
  it("is decrypted to the same text, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (text, place) => {
        const encrypted = encrypter.encrypt(text, { context: place });
        expect(encrypted).to.match(/^[\w-]+$/);
        expect(encrypter.decrypt(encrypted, { context: place })).to.equal(text);
      }),
    );
    expect(encrypter.decrypt(encrypter.encrypt("\uFEFFa\0"))).to.equal("\uFEFFa\0");
  });

  it("is decrypted to the same bytes, which need not be text", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect([...(encrypter.decryptBytes(encrypter.encrypt(bytes)) ?? ["none"])]).to.deep.equal([...bytes]);
      }),
    );
    expect(encrypter.decrypt(encrypter.encrypt(Uint8Array.of(0xff)))).to.equal(undefined);
  });

  it("shows nothing of the text, and differs each time", () => {
    expect(Buffer.from(sealed, "base64url").includes("DE02")).to.equal(false);
    expect(encrypter.encrypt("same")).to.not.equal(encrypter.encrypt("same"));
    expect(encrypter.encrypt("")).to.have.length(44);
  });

  it("is undefined in another place", () => {
    expect(encrypter.decrypt(sealed, { context })).to.equal("DE02120300000000202051");
    for (const other of ["accounts.tax_id", "", "accounts.iban "])
      expect(encrypter.decrypt(sealed, { context: other }), other).to.equal(undefined);
    expect(encrypter.decrypt(sealed)).to.equal(undefined);
  });

  it("is undefined after a change of one character, and after one more or less", () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \n\0é";
    for (let at = 0; at < sealed.length; at += 1) {
      for (const letter of alphabet) {
        const changed = sealed.slice(0, at) + letter + sealed.slice(at + 1);
        if (changed !== sealed) expect(encrypter.decrypt(changed, { context }), changed).to.equal(undefined);
      }
      expect(encrypter.decrypt(sealed.slice(0, at), { context })).to.equal(undefined);
      expect(encrypter.decrypt(`${sealed.slice(0, at)}A${sealed.slice(at)}`, { context })).to.equal(undefined);
    }
  });

  it("is undefined for any other text or value", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String(),
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from([1, ...bytes]).toString("base64url")),
        ),
        (text) => {
          expect(encrypter.decrypt(text)).to.equal(undefined);
          expect(encrypter.decryptBytes(text)).to.equal(undefined);
        },
      ),
    );
    for (const value of [undefined, null, 7, {}, Buffer.from(sealed)])
      expect(encrypter.decrypt(value as string, { context })).to.equal(undefined);
  });

  it("has at most 1 MiB of content, and a longer text is refused unread", () => {
    const max = Buffer.alloc(1_048_576, "a");

    expect(encrypter.decryptBytes(encrypter.encrypt(max))?.length).to.equal(max.length);
    expect(() => encrypter.encrypt(Buffer.alloc(max.length + 1)))
      .to.throw("cannot be encrypted; the limit is 1048576")
      .with.property("code", "E_ENCRYPT");
    expect(encrypter.decrypt("A".repeat(100_000_000))).to.equal(undefined);
  });

  it("is no text with half of a surrogate pair, which UTF-8 cannot hold", () => {
    expect(() => encrypter.encrypt("secret\uD800"))
      .to.throw("half of a surrogate pair")
      .with.property("code", "E_ENCRYPT");
  });
});

describe("the keys of an Encrypter", () => {
  const rotated = new Encrypter([NEXT_KEY, KEY]);

  it("all decrypt, and the first one encrypts", () => {
    const fresh = rotated.encrypt("x", { context });

    expect(rotated.decrypt(sealed, { context })).to.equal("DE02120300000000202051");
    expect(new Encrypter(NEXT_KEY).decrypt(fresh, { context })).to.equal("x");
    expect(encrypter.decrypt(fresh, { context })).to.equal(undefined);
  });

  it("tell which values to encrypt again", () => {
    expect(rotated.needsReencrypt(sealed)).to.equal(true);
    expect(rotated.needsReencrypt(rotated.encrypt("x"))).to.equal(false);
    expect(encrypter.needsReencrypt(sealed)).to.equal(false);
    for (const none of ["", "x", undefined, "A".repeat(44)]) expect(rotated.needsReencrypt(none)).to.equal(false);
  });

  it("are 64 bytes each, and never printed", () => {
    for (const key of ["", "c0ffee", randomBytes(32), [], undefined])
      expect(() => new Encrypter(key as string))
        .to.throw(/^a key is 64 random bytes .* set it as APP_KEY$/)
        .with.property("code", "E_CRYPTO_KEY");
    expect(() => new Encrypter(createSecretKey(randomBytes(32)))).to.throw("not a secret key of 32 bytes");
  });

  it("come from one variable of the environment, which serves sessions and signed URLs too", () => {
    const { APP_KEY } = environment({ APP_KEY: variable.keys() }, { APP_KEY: `${NEXT_KEY}, ${KEY}` });

    expect(new Encrypter(APP_KEY).decrypt(sealed, { context })).to.equal("DE02120300000000202051");
    expect(() => [new SessionConfig(APP_KEY), new UrlSigner(APP_KEY, "https://shop.example")]).to.not.throw();
  });
});
