import { expect } from "chai";
import * as fc from "fast-check";
import { checkPort, parsePort, resolvePort, type Environment, type PortSettings } from "../../lib/app/config.js";

describe("parsePort", () => {
  const rows: readonly (readonly [text: string | undefined, port: number | undefined])[] = [
    ["0", 0],
    ["1", 1],
    ["3000", 3000],
    ["0080", 80],
    ["65535", 65535],
    ["65536", undefined],
    ["99999999999999999999", undefined],
    [undefined, undefined],
    ["", undefined],
    [" ", undefined],
    [" 3000", undefined],
    ["3000 ", undefined],
    ["3000\n", undefined],
    ["+3000", undefined],
    ["-1", undefined],
    ["3e3", undefined],
    ["0x50", undefined],
    ["80.0", undefined],
    ["http", undefined],
    ["٣٠٠٠", undefined],
  ];

  for (const [text, port] of rows) {
    it(`takes ${JSON.stringify(text)} for ${port}`, () => {
      expect(parsePort(text)).to.equal(port);
    });
  }

  it("reads every port back, and no other number", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), (number) => {
        expect(parsePort(String(number))).to.equal(number <= 65_535 ? number : undefined);
      }),
    );
  });
});

describe("resolvePort", () => {
  const all = { FRAMEWORK_BACKEND_PORT: "1", PORT: "2", APP_PORT: "3" };
  const rows: readonly (readonly [why: string, environment: Environment, settings: PortSettings, port: number])[] = [
    ["the dev supervisor's first", all, { asked: 4, configured: 5 }, 1],
    ["PORT before APP_PORT", { PORT: "2", APP_PORT: "3" }, { asked: 4, configured: 5 }, 2],
    ["APP_PORT before the code", { APP_PORT: "3" }, { asked: 4, configured: 5 }, 3],
    [".port(n) before .config(...)", {}, { asked: 4, configured: 5 }, 4],
    [".config(...) where no port is asked", {}, { configured: 5 }, 5],
    ["3000 where nothing says", {}, {}, 3000],
    ["the next one where one is malformed", { ...all, FRAMEWORK_BACKEND_PORT: "http" }, {}, 2],
    ["the next one where one is blank", { FRAMEWORK_BACKEND_PORT: " ", PORT: "", APP_PORT: "3" }, {}, 3],
    ["the code where all are malformed", { PORT: "65536", APP_PORT: " 3" }, { configured: 5 }, 5],
    ["zero, wherever it stands", { PORT: "0" }, { asked: 4 }, 0],
    ["a zero that is asked for", {}, { asked: 0, configured: 5 }, 0],
  ];

  for (const [why, environment, settings, port] of rows) {
    it(`takes ${why}`, () => {
      expect(resolvePort(environment, settings)).to.equal(port);
    });
  }
});

describe("checkPort", () => {
  for (const port of [0, 1, 65_535]) {
    it(`lets ${port} pass`, () => {
      expect(checkPort(port, ".port(n)")).to.equal(undefined);
    });
  }

  for (const port of [-1, 65_536, 80.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`finds ${port}`, () => {
      expect(checkPort(port, ".port(n)")).to.include({
        code: "E_PORT",
        what: `${port} is not a port`,
        where: ".port(n)",
      });
    });
  }
});
