/** One-time codes by the tables of their specifications. */
import { expect } from "chai";
import { createTotpCode, findTotpStep, toBase32 } from "../../../lib/auth/second-step/totp-code.js";

const SECRET = Buffer.from("12345678901234567890");
const STEP_MS = 30_000;

describe("a code of an authenticator app", () => {
  // RFC 6238 appendix B, the rows of SHA-1.
  const times: readonly (readonly [number, string])[] = [
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"],
  ];
  for (const [seconds, code] of times)
    it(`is ${code} after ${seconds} s`, () => {
      expect(createTotpCode(SECRET, Math.floor(seconds / 30), 8)).to.equal(code);
      expect(findTotpStep(SECRET, code.slice(2), seconds * 1000)).to.equal(Math.floor(seconds / 30));
    });

  // RFC 4226 appendix D.
  const counters = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"];
  for (const [counter, code] of counters.entries())
    it(`is ${code} for the counter ${counter}`, () => expect(createTotpCode(SECRET, counter)).to.equal(code));

  it("counts in its period and in the two beside it", () => {
    const code = createTotpCode(SECRET, 100);
    const steps = [98, 99, 100, 101, 102].map((step) => findTotpStep(SECRET, code, step * STEP_MS));

    expect(steps).to.deep.equal([undefined, 100, 100, 100, undefined]);
    expect(findTotpStep(SECRET, code, 99 * STEP_MS - 1)).to.equal(undefined);
    expect(findTotpStep(SECRET, code, 102 * STEP_MS - 1)).to.equal(100);
  });

  it("counts as people type it, and nothing else does", () => {
    const code = createTotpCode(SECRET, 100);
    const find = (text: unknown) => findTotpStep(SECRET, text as string, 100 * STEP_MS);

    for (const text of [`${code.slice(0, 3)} ${code.slice(3)}`, `${code.slice(0, 3)}-${code.slice(3)}\n`])
      expect(find(text)).to.equal(100);
    for (const text of [
      "",
      `0${code}`,
      `${code}0`,
      code.slice(1),
      `${code}${" ".repeat(100)}`,
      Number(code),
      undefined,
      {},
    ])
      expect(find(text), JSON.stringify(text)).to.equal(undefined);
  });
});

describe("base32", () => {
  // RFC 4648 section 10, the row without padding, and one with all digits.
  it("is that of the specification", () => {
    expect(toBase32(Buffer.from("fooba"))).to.equal("MZXW6YTB");
    expect(toBase32(Buffer.from("00443214c74254b635cf84653a56d7c675be77df", "hex"))).to.equal(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    );
  });
});
