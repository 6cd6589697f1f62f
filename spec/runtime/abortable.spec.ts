import { expect } from "chai";
import { untilAborted } from "../../lib/runtime/abortable.js";
import { Gate } from "../support/gate.js";
import { rejectionOf } from "../support/rejection-of.js";

describe("untilAborted", () => {
  it("settles as its work does", async () => {
    const { signal } = new AbortController();
    const failure = new Error("failed");

    expect(await untilAborted(Promise.resolve("done"), signal)).to.equal("done");
    expect(await rejectionOf(untilAborted(Promise.reject(failure), signal))).to.equal(failure);
  });

  it("rejects with the reason when the signal aborts, and ignores a later failure of its work", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const late = new Gate();
    const work = late.passed.then(() => {
      throw new Error("too late");
    });
    const waiting = rejectionOf(untilAborted(work, controller.signal));

    controller.abort(reason);
    late.open();

    expect(await waiting).to.equal(reason);
  });
});
