/** The message of a `StartupError`, which a program prints when it does not start. */
import { expect } from "chai";
import { type Diagnostic, StartupError } from "../../lib/errors/diagnostic.js";

function faults(count: number, code = (index: number) => `E_${index}`): readonly Diagnostic[] {
  return Array.from({ length: count }, (_, index) => ({
    code: code(index),
    what: "is wrong",
    where: "here",
    fix: "mend it",
  }));
}

describe("the start-up report", () => {
  it("says of one fault what is wrong, where, and the fix", () => {
    expect(new StartupError(faults(1)).message).to.equal(
      "the application cannot start\n  E_0 is wrong\n    at here\n    fix: mend it",
    );
  });

  it("shows ten faults in full", () => {
    const { message } = new StartupError(faults(10));

    expect(message)
      .to.match(/^the application cannot start: 10 faults\n/)
      .and.to.contain("  E_9 is wrong");
    expect(message).not.to.contain("more:");
  });

  it("is one screen, counts the other faults by their codes, and keeps all of them as data", () => {
    const codes = ["E_TYPE_ERASED", "E_TYPE_ERASED", "E_PORT"];
    const error = new StartupError([...faults(10), ...faults(3, (index) => codes[index] ?? "")]);

    expect(error.message.split("\n").at(-1)).to.equal("  and 3 more: E_TYPE_ERASED (2), E_PORT");
    expect(error.message.split("\n")).to.have.length.below(40);
    expect(error.diagnostics).to.have.length(13);
  });
});
