/** The normal form of addresses: one identity for each mailbox, and two mailboxes are never one. */
import { readEmail } from "@stagecraft/framework/auth";
import { DatabaseIdentities } from "@stagecraft/framework/auth/db";
import { expect } from "chai";
import { ENGINES } from "../idempotency/db/order-database.js";
import { type AppDatabase, openBefore } from "./auth-database.js";

const LOCAL = "a".repeat(64);
const DOMAIN = `${`${"d".repeat(60)}.`.repeat(3)}example`;

describe("the normal form of an address", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["ada@shop.example", "ada@shop.example"],
    [" ADA@Shop.EXAMPLE\n", "ada@shop.example"],
    ["ａｄａ@shop.example", "ada@shop.example"],
    ["\u212Aurt@shop.example", "kurt@shop.example"],
    ["ada@münchen.example", "ada@xn--mnchen-3ya.example"],
    ["ada@mu\u0308nchen.example", "ada@xn--mnchen-3ya.example"],
    ["ada@XN--MNCHEN-3YA.example", "ada@xn--mnchen-3ya.example"],
    ["ada+news@shop.example", "ada+news@shop.example"],
    ["a.d.a@shop.example", "a.d.a@shop.example"],
    [`${LOCAL}@shop.example`, `${LOCAL}@shop.example`],
    [`ada@${DOMAIN}`, `ada@${DOMAIN}`],
  ];
  for (const [text, email] of rows)
    it(`of ${JSON.stringify(text).slice(0, 40)} is ${email.slice(0, 40)}`, () => {
      expect(readEmail(text)).to.equal(email);
      expect(readEmail(email)).to.equal(email);
    });

  const homographs = ["а\u0434а@shop.example", "\u0430da@shop.example", "ádа@shop.example", "ada\u200b@shop.example"];
  const injections = [
    "ada@shop.example\r\nBcc: eve@evil.example",
    "ada@shop.example, eve@evil.example",
    "Ada <ada@shop.example>",
    '"ada"@shop.example',
    "ada@shop.example\0",
    "ada@shop.example%0d%0aBcc: eve@evil.example",
    "@shop.example",
    "ada@",
    "ada",
    "",
    "ada@[127.0.0.1]",
    "ada@127.0.0.1",
    "ada@shop.example.",
    "ada@shop。example",
  ];
  const lengths = [`${"a".repeat(320)}@shop.example`, `a${LOCAL}@shop.example`, `ada@${"d".repeat(310)}`];
  for (const text of [...homographs, ...injections, ...lengths, "a".repeat(100_000)])
    it(`is none of ${JSON.stringify(text).slice(0, 40)}`, () => {
      expect(readEmail(text)).to.equal(undefined);
    });

  it("of a domain with a letter of another script is not that of the domain that looks the same", () => {
    const real = readEmail("ada@apple.example");
    const lookalike = readEmail("ada@\u0430pple.example");

    expect(lookalike)
      .to.match(/^ada@xn--/)
      .and.not.equal(real);
  });

  it("is none of a value that is no text", () => {
    const values: readonly unknown[] = [undefined, null, 7, {}, ["ada@shop.example"]];
    for (const value of values) expect(readEmail(value as string)).to.equal(undefined);
  });
});

for (const engine of ENGINES) {
  describe(`addresses in ${engine.name}`, function () {
    this.timeout(120_000);
    let db: AppDatabase;
    openBefore(engine, (opened) => void (db = opened));

    it("are two where one letter differs, also by its accent, and user ids too", async () => {
      const identities = new DatabaseIdentities(db);
      const values = { password: undefined, stamp: "s", verifiedAt: undefined, createdAt: 1 };
      const addresses = ["a@x.example", "á@x.example", "A@x.example", "ä@x.example", "a@ｘ.example"];

      for (const [at, email] of addresses.entries())
        expect(await identities.insert({ ...values, userId: ["u", "ú", "U", "ü", "ｕ"][at] ?? "", email })).to.equal(
          true,
        );

      for (const [at, email] of addresses.entries())
        expect((await identities.findByEmail(email))?.userId).to.equal(["u", "ú", "U", "ü", "ｕ"][at]);
      expect(await identities.insert({ ...values, userId: "another", email: "á@x.example" })).to.equal(false);
    });
  });
}
