import { expect } from "chai";
import { ControlSemaphore } from "../../../lib/db/drivers/control-semaphore.js";
import { Gate } from "../../support/gate.js";
import { rejectionOf } from "../../support/rejection-of.js";

describe("the semaphore of control connections", () => {
  it("runs two at once, in the order of the calls, also where calls come while one ends", async () => {
    const turns = new ControlSemaphore();
    const began: number[] = [];
    const gates: Gate[] = [];
    const all: Promise<void>[] = [];
    let open = 0;
    let most = 0;
    const call = (): void => {
      const number = all.length;
      const gate = new Gate();
      gates.push(gate);
      all.push(
        turns.run(async () => {
          began.push(number);
          most = Math.max(most, ++open);
          await gate.passed;
          open--;
        }),
      );
    };

    for (let count = 0; count < 4; count++) call();
    gates[0]?.open();
    // One call before each step of the work that ends.
    for (let step = 0; step < 20; step++) {
      call();
      await Promise.resolve();
    }
    for (const gate of gates) gate.open();
    await Promise.all(all);

    expect(most).to.equal(2);
    expect(began).to.deep.equal(all.map((_, number) => number));
  });

  it("has a free place again after a failure", async () => {
    const turns = new ControlSemaphore();
    const failure = new Error("no");
    for (let count = 0; count < 3; count++)
      expect(await rejectionOf(turns.run(() => Promise.reject(failure)))).to.equal(failure);
    expect(await turns.run(() => Promise.resolve("sent"))).to.equal("sent");
  });
});
