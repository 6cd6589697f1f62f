/** The compiler refuses handlers and guards that do not fit a contract, in both kinds of decorators, with a sentence that can be read. */
import { expect } from "chai";
import { DECORATOR_KINDS } from "../support/compiler-messages.js";
import { findOtherRefusals } from "../support/contract-refusals.js";

describe("the compiler on a contract", function () {
  this.timeout(240_000);

  for (const [kind, isLegacy] of Object.entries(DECORATOR_KINDS))
    it(`refuses what does not fit, and ends with a sentence, with ${kind} decorators`, async () => {
      expect(await findOtherRefusals(isLegacy)).to.deep.equal([]);
    });
});
