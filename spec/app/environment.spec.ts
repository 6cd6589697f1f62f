import { inspect } from "node:util";
import { expect } from "chai";
import * as fc from "fast-check";
import { AddressBlocks, environment, variable } from "../../lib/entries/main.js";
import { startupErrorOf } from "../support/startup-error-of.js";

const read = <T>(one: ReturnType<typeof variable.rule<T>>, VALUE?: string) =>
  environment({ VALUE: one }, { VALUE }).VALUE;

const KEY = "0123456789abcdef".repeat(8);

describe("environment", () => {
  const valid: readonly (readonly [what: string, () => unknown, unknown])[] = [
    ["a text without the whitespace around it", () => read(variable.text(), " a b "), "a b"],
    ["a port", () => read(variable.port(), "8080"), 8080],
    ["port 0, which is any free port", () => read(variable.port(), "0"), 0],
    ["a whole number at its lower bound", () => read(variable.integer(1, 9), "1"), 1],
    ["a whole number at its upper bound", () => read(variable.integer(1, 9), "9"), 9],
    ["a negative number within its bounds", () => read(variable.integer(-5, 5), "-5"), -5],
    ["true", () => read(variable.flag(), "true"), true],
    ["false", () => read(variable.flag(), "false"), false],
    ["a word of a list of words", () => read(variable.oneOf("fast", "safe"), "safe"), "safe"],
    ["a URL as it is written", () => read(variable.url(), "http://a.example"), "http://a.example"],
    ["the URL of a server", () => read(variable.serverUrl("redis:"), "redis://u:p@a:1"), "redis://u:p@a:1"],
    ["an origin", () => read(variable.origin(), "https://a.example"), "https://a.example"],
    ["a list", () => read(variable.port().list(), "1, 2,,3 "), [1, 2, 3]],
    ["a list of an unset variable as empty", () => read(variable.port().list()), []],
    ["the default of an unset variable", () => read(variable.port().default(3000)), 3000],
    ["the default of a blank variable", () => read(variable.port().default(3000), " \t"), 3000],
    ["the default of a list", () => read(variable.port().list().default([80])), [80]],
    ["undefined for an optional variable that is unset", () => read(variable.port().optional()), undefined],
    ["undefined for an optional variable that is blank", () => read(variable.text().optional(), " "), undefined],
    ["the default of a secret", () => read(variable.text().default("k").secret()), "k"],
    [
      "a value by a rule of one's own",
      () =>
        read(
          variable.rule("a", (text) => text.length, "write"),
          "abc",
        ),
      3,
    ],
  ];
  for (const [what, call, value] of valid) {
    it(`reads ${what}`, () => {
      expect(call()).to.deep.equal(value);
    });
  }

  it("reads secret keys as key objects, which print none", () => {
    const keys = read(variable.keys(), `${KEY},${KEY}`);

    expect(keys.map((key) => key.export().toString("hex"))).to.deep.equal([KEY, KEY]);
    expect(inspect(keys, { showHidden: true }) + JSON.stringify(keys)).not.to.include(KEY.slice(0, 8));
  });

  it("reads addresses and blocks of addresses", () => {
    const inside = read(variable.addresses(), "10.0.0.0/8 fd00::/8,192.0.2.1");

    expect(["10.9.9.9", "fd00::1", "192.0.2.1", "192.0.2.2"].map((each) => inside.includes(each))).to.deep.equal([
      true,
      true,
      true,
      false,
    ]);
    expect(read(variable.addresses().default(AddressBlocks.loopback)).includes("127.0.0.1")).to.equal(true);
  });

  const refused: readonly (readonly [() => unknown, what: string])[] = [
    [() => read(variable.text()), "VALUE is not set"],
    [() => read(variable.text(), "  "), "VALUE is not set"],
    [() => read(variable.port(), "65536"), '"65536" is not a port'],
    [() => read(variable.port(), "8080x"), '"8080x" is not a port'],
    [() => read(variable.integer(1, 9), "10"), '"10" is not a whole number from 1 to 9'],
    [() => read(variable.integer(1, 9), "0"), '"0" is not a whole number from 1 to 9'],
    [() => read(variable.integer(), "1e3"), '"1e3" is not a whole number from 0'],
    [() => read(variable.integer(), "9007199254740993"), '"9007199254740993" is not a whole number from 0'],
    [() => read(variable.flag(), "yes"), '"yes" is not true or false'],
    [() => read(variable.oneOf("fast", "safe"), "Fast"), '"Fast" is not one of fast, safe'],
    [() => read(variable.url(), "a.example"), '"a.example" is not an http or https URL'],
    [() => read(variable.url(), "ftp://a.example"), '"ftp://a.example" is not an http or https URL'],
    [() => read(variable.serverUrl("redis:", "rediss:"), "a:1"), '"a:1" is not a URL with redis: or rediss:'],
    [() => read(variable.origin(), "https://a.example/"), '"https://a.example/" is not an origin'],
    [() => read(variable.origin(), "HTTPS://a.example"), '"HTTPS://a.example" is not an origin'],
    [() => read(variable.keys()), "VALUE is not set"],
    [() => read(variable.keys(), KEY.slice(1)), "the value (withheld) is not one or more keys of 128 hexadecimal"],
    [() => read(variable.keys(), `${KEY}, ${KEY}0`), "the value (withheld) is not one or more keys of 128 hexadecimal"],
    [() => read(variable.addresses(), "10.0.0.0/33"), '"10.0.0.0/33" is not an address or a block'],
    [
      () =>
        read(
          variable.rule("even", (t) => (Number(t) % 2 === 0 ? t : undefined), "add 1"),
          "3",
        ),
      '"3" is not even',
    ],
    [() => read(variable.rule("a JSON text", JSON.parse, "write JSON"), "{canary"), '"{canary" is not a JSON text'],
  ];
  for (const [call, what] of refused) {
    it(`refuses: ${what}`, () => {
      const { diagnostics } = startupErrorOf(call);

      expect(diagnostics).to.have.lengthOf(1);
      expect(diagnostics[0]).to.include({ code: "E_VARIABLE", where: "VALUE" });
      expect(diagnostics[0]?.what.startsWith(what), diagnostics[0]?.what).to.equal(true);
      expect(diagnostics[0]?.fix).not.to.equal("");
    });
  }

  it("says how to make a key that is not set", () => {
    const { diagnostics } = startupErrorOf(() => read(variable.keys()));

    expect(diagnostics[0]?.fix).to.match(/characters; node -p 'crypto.* prints one$/);
  });

  it("names all faults of all variables at once, and each entry of a list", () => {
    const { diagnostics } = startupErrorOf(() =>
      environment(
        { PORT: variable.port(), KEY: variable.text(), ORIGINS: variable.origin().list(), NET: variable.addresses() },
        { PORT: "x", ORIGINS: "a, https://b.example, c", NET: "d, 10.0.0.0/8, e" },
      ),
    );

    expect(diagnostics.map(({ where, what }) => `${where}: ${what}`)).to.deep.equal([
      'PORT: "x" is not a port',
      "KEY: KEY is not set",
      'ORIGINS: "a" is not an origin',
      'ORIGINS: "c" is not an origin',
      'NET: "d" is not an address or a block of addresses',
      'NET: "e" is not an address or a block of addresses',
    ]);
  });

  const hidden: readonly (readonly [what: string, () => unknown])[] = [
    ["a secret", () => read(variable.port().secret(), "canary")],
    ["an optional secret", () => read(variable.port().secret().optional(), "canary")],
    ["a secret with a default", () => read(variable.port().default(1).secret(), "canary")],
    ["an entry of a list of secrets", () => read(variable.port().list().secret(), "1,canary")],
    ["an entry of a list made of a secret", () => read(variable.port().secret().list(), "1,canary")],
    ["a secret for which a rule throws", () => read(variable.rule("a JSON text", JSON.parse, "").secret(), "canary")],
    ["a URL with a password", () => read(variable.url(), "http://me:canary@a.example/")],
    ["pairs with a password", () => read(variable.serverUrl("postgres:"), "host=db user=shop password=canary")],
    ["a URL with a query", () => read(variable.origin(), "https://a.example/?key=canary")],
  ];
  for (const [what, call] of hidden) {
    it(`does not show ${what}`, () => {
      const error = startupErrorOf(call);

      expect(`${error.stack}\n${JSON.stringify(error.diagnostics)}`)
        .to.include("VALUE")
        .and.not.include("canary");
      expect(error.diagnostics[0]?.what).to.match(/^the value \(withheld\) is not /);
    });
  }

  it("shows at most 80 characters of a value", () => {
    const { diagnostics } = startupErrorOf(() => read(variable.port(), "7".repeat(10_000)));

    expect(diagnostics[0]?.what).to.equal(`"${"7".repeat(80)}…" is not a port`);
  });

  it("reads the environment of the process at the call", () => {
    process.env["STAGECRAFT_SPEC"] = "at the call";
    try {
      expect(environment({ STAGECRAFT_SPEC: variable.text() }).STAGECRAFT_SPEC).to.equal("at the call");
    } finally {
      delete process.env["STAGECRAFT_SPEC"];
    }
  });

  it("leaves a variable unchanged from which another variable is derived", () => {
    const port = variable.port();
    port.default(1).optional().secret();

    expect(startupErrorOf(() => read(port)).diagnostics[0]?.what).to.equal("VALUE is not set");
    expect(startupErrorOf(() => read(port, "x")).diagnostics[0]?.what).to.equal('"x" is not a port');
  });

  it("reads every whole number in its bounds and no other text", () => {
    fc.assert(
      fc.property(fc.integer(), (number) => {
        expect(read(variable.integer(-(2 ** 31), 2 ** 31), String(number))).to.equal(number);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(text.trim() !== "" && !/^-?[0-9]+$/.test(text.trim()));
        expect(() => read(variable.integer(), text)).to.throw();
      }),
    );
  });
});
