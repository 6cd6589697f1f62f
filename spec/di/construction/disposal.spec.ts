import { expect } from "chai";
import { disposeAll } from "../../../lib/di/construction/disposal.js";
import { FrameworkError } from "../../../lib/errors/framework-error.js";

describe("disposeAll", () => {
  it("takes the last instance first and waits for each", async () => {
    const log: string[] = [];
    const slow = {
      async dispose() {
        await Promise.resolve();
        await Promise.resolve();
        log.push("slow");
      },
    };
    const quick = { dispose: () => log.push("quick") };
    const first = { dispose: () => log.push("first") };

    await disposeAll([first, quick, slow]);

    expect(log).to.deep.equal(["slow", "quick", "first"]);
  });

  it("calls one method: Symbol.asyncDispose, else dispose, else Symbol.dispose", async () => {
    const log: string[] = [];
    const all = {
      [Symbol.asyncDispose]: async () => log.push("async"),
      dispose: () => log.push("wrong"),
      [Symbol.dispose]: () => log.push("wrong"),
    };
    const two = { dispose: () => log.push("plain"), [Symbol.dispose]: () => log.push("wrong") };
    const one = { [Symbol.dispose]: () => log.push("sync") };

    await disposeAll([one, two, all]);

    expect(log).to.deep.equal(["async", "plain", "sync"]);
  });

  it("ignores values without a dispose method", async () => {
    await disposeAll([null, undefined, 1, "text", {}, { dispose: "no function" }, () => 1, Object.create(null)]);
  });

  it("disposes of the rest when some fail, and names the failed ones at the end", async () => {
    const log: string[] = [];
    class Broken {
      dispose(): void {
        throw new Error("broken");
      }
    }
    class Rejecting {
      async [Symbol.asyncDispose](): Promise<void> {
        throw new Error("rejected");
      }
    }
    const fine = { dispose: () => log.push("fine") };

    const outcome = await disposeAll([fine, new Broken(), new Rejecting()]).catch((error: unknown) => error);

    expect(log).to.deep.equal(["fine"]);
    expect(outcome).to.be.instanceOf(FrameworkError).and.include({ code: "E_DISPOSE" });
    expect((outcome as Error).message).to.include("Rejecting (rejected), Broken (broken)");
    expect(((outcome as Error).cause as AggregateError).errors.map(String)).to.deep.equal([
      "Error: rejected",
      "Error: broken",
    ]);
  });
});
