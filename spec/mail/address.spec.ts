/** The strict form of addresses: a table of accepted and refused texts, and what no accepted text can hold. */

import { expect } from "chai";
import * as fc from "fast-check";
import { isMailAddress, readMailbox } from "../../lib/mail/address.js";
import { errorOf } from "../support/error-of.js";

const ACCEPTED: readonly (readonly [text: string, address: string])[] = [
  ["ada@example.org", "ada@example.org"],
  ["ada.lovelace+news@mail.example.org", "ada.lovelace+news@mail.example.org"],
  ["o'brien@example.org", "o'brien@example.org"],
  ["root@localhost", "root@localhost"],
  ["Ada@EXAMPLE.org", "Ada@example.org"],
  ["ada@bücher.example", "ada@xn--bcher-kva.example"],
  [`${"a".repeat(64)}@example.org`, `${"a".repeat(64)}@example.org`],
];

const REFUSED: readonly string[] = [
  "",
  "ada",
  "@example.org",
  "ada@",
  "ada@@example.org",
  "ada@example..org",
  "ada@-example.org",
  "ada@example-.org",
  "ada@.example.org",
  "ada@example.org.",
  "ada@127.0.0.1",
  "ada@[127.0.0.1]",
  ".ada@example.org",
  "ada.@example.org",
  "a..da@example.org",
  "ädä@example.org",
  '"ada lovelace"@example.org',
  "ada@example.org, eve@example.org",
  "ada@example.org;eve@example.org",
  "Ada <ada@example.org>",
  "<ada@example.org>",
  "ada@example.org (Ada)",
  " ada@example.org",
  "ada@example.org ",
  "ada@example.org\r\nBcc: eve@example.org",
  "ada@example.org\n",
  "ada\r@example.org",
  "ada@exam\u0000ple.org",
  "ada@example\u3002org",
  "ada@exam\u00adple.org",
  `${"a".repeat(65)}@example.org`,
  `ada@${"a".repeat(64)}.org`,
  `ada@${"a.".repeat(126)}org`,
];

const named = (name: string) => readMailbox({ name, address: "ada@example.org" }, "cc[3]");

describe("an address of a mail", function () {
  this.timeout(60_000);
  for (const [text, address] of ACCEPTED)
    it(`may be ${text.slice(0, 40)}`, () => {
      expect(isMailAddress(text)).to.equal(true);
      expect(readMailbox(text, "to")).to.deep.equal({ name: undefined, address });
    });

  for (const text of REFUSED)
    it(`is not ${JSON.stringify(text.slice(0, 50))}`, () => {
      expect(isMailAddress(text)).to.equal(false);
      expect(errorOf(() => readMailbox(text, "to"))).to.have.property("code", "E_MAIL_ADDRESS");
      // An empty name of a person is none; the address is refused all the same.
      expect(errorOf(() => readMailbox({ name: "", address: text }, "to"))).to.have.property("status", 422);
    });

  it("is ASCII without spaces, commas, brackets and control characters", () => {
    const parts = fc.string({ unit: fc.constantFrom(...Array.from('ab1.-@ ,;<>()"\\\r\n\u0000ä\u{1F600}\u3002')) });

    const plain = fc.string({ unit: fc.constantFrom("a", "b", "1", ".", "-"), minLength: 1, maxLength: 6 });
    const text = fc.oneof(
      parts,
      fc.tuple(plain, fc.oneof({ weight: 4, arbitrary: plain }, parts)).map((each) => each.join("@")),
    );

    fc.assert(
      fc.property(text, (given) => {
        fc.pre(isMailAddress(given));
        expect(readMailbox(given, "to").address).to.match(/^[\w.+'-]+@[a-z0-9.-]+$/i);
      }),
      { numRuns: 2000 },
    );
  });

  it("has a name without control characters, of at most 200 characters", () => {
    expect(named('Ada, "the" <first>')).to.have.property("name", 'Ada, "the" <first>');
    for (const name of ["a\r\nBcc: eve@example.org", "a\nb", "a\u0000b", "a\u2028b", "x".repeat(201)])
      expect(errorOf(() => named(name))).to.have.property("code", "E_MAIL_ADDRESS");
  });

  it("appears in no message: the message names its place", () => {
    const { message } = errorOf(() => readMailbox("secret@example.org\r\nBcc: eve@example.org", "to[2]"));

    expect(message).to.equal("the address to[2] has a control character, such as a line break");
  });

  it("is refused if plain JavaScript passes a value of another type", () => {
    for (const given of [undefined, null, 7, {}, { address: "ada@example.org" }, ["ada@example.org"]])
      // The types forbid it.
      expect(errorOf(() => readMailbox(given as never, "to"))).to.have.property("code", "E_MAIL_ADDRESS");
  });
});
