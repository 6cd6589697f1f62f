import { expect } from "chai";
import * as fc from "fast-check";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { Lifecycle, type LifecycleState } from "../../lib/lifecycle/state.js";

type Move = "markReady" | "beginDrain" | "markStopped";

const MOVES_TO: Readonly<Record<LifecycleState, readonly Move[]>> = {
  booting: [],
  ready: ["markReady"],
  draining: ["beginDrain"],
  stopped: ["beginDrain", "markStopped"],
};

const ORDER: readonly LifecycleState[] = ["booting", "ready", "draining", "stopped"];

function at(state: LifecycleState): Lifecycle {
  const lifecycle = new Lifecycle();
  for (const move of MOVES_TO[state]) lifecycle[move]();
  return lifecycle;
}

function codeOf(move: () => unknown): unknown {
  try {
    move();
    return undefined;
  } catch (error) {
    return error instanceof FrameworkError ? error.code : error;
  }
}

describe("Lifecycle", () => {
  const rows: readonly (readonly [from: LifecycleState, move: Move, to: LifecycleState, result: unknown])[] = [
    ["booting", "markReady", "ready", true],
    ["draining", "markReady", "draining", false],
    ["stopped", "markReady", "stopped", false],
    ["booting", "beginDrain", "draining", true],
    ["ready", "beginDrain", "draining", true],
    ["draining", "beginDrain", "draining", false],
    ["stopped", "beginDrain", "stopped", false],
    ["draining", "markStopped", "stopped", undefined],
  ];

  for (const [from, move, to, result] of rows) {
    it(`goes by ${move} from ${from} to ${to}`, () => {
      const lifecycle = at(from);

      expect(lifecycle[move]()).to.equal(result);
      expect(lifecycle.state).to.equal(to);
    });
  }

  const refused: readonly (readonly [from: LifecycleState, move: Move])[] = [
    ["ready", "markReady"],
    ["booting", "markStopped"],
    ["ready", "markStopped"],
    ["stopped", "markStopped"],
  ];

  for (const [from, move] of refused) {
    it(`refuses ${move} when ${from}, and stays ${from}`, () => {
      const lifecycle = at(from);

      expect(codeOf(() => lifecycle[move]())).to.equal("E_LIFECYCLE_MOVE");
      expect(lifecycle.state).to.equal(from);
    });
  }

  it("names both states and the order in its error", () => {
    expect(() => at("ready").markStopped()).to.throw(
      "from ready to stopped: its states are booting, ready, draining, stopped",
    );
  });

  it("never goes back, for any sequence of calls", () => {
    const moves = fc.array(fc.constantFrom<Move>("markReady", "beginDrain", "markStopped"));
    fc.assert(
      fc.property(moves, (sequence) => {
        const lifecycle = new Lifecycle();
        for (const move of sequence) {
          const before = ORDER.indexOf(lifecycle.state);

          codeOf(() => lifecycle[move]());

          expect(ORDER.indexOf(lifecycle.state)).to.be.at.least(before);
        }
      }),
    );
  });
});
