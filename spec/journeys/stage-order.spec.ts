/** A request meets the stages in the order of the table, and its answer passes them the other way round: seen over a socket. */
import {
  STAGES,
  type Context,
  type KoaMiddleware,
  type Layer,
  type Next,
  type Run,
  type Slot,
} from "@stagecraft/framework";
import { expect } from "chai";
import * as fc from "fast-check";
import { answerWith } from "../../lib/kernel/answer.js";
import { Layer as KernelLayer } from "../../lib/kernel/middleware.js";
import { boundary } from "../../lib/pipeline/boundary.js";
import { Pipeline } from "../../lib/pipeline/pipeline.js";
import { Stack } from "../support/stack.js";

/** A chain that is whole already, where a layer is asked for. */
class Whole extends KernelLayer {
  constructor(private readonly run: Run) {
    super();
  }

  override wrap(): Run {
    return this.run;
  }
}

const SLOTS = STAGES.map(({ slot }) => slot);
const WAYS_IN = SLOTS.filter((slot) => slot !== "router" && slot !== "staticFiles");

/** A stage of each kind that does nothing but leave marks. */
function marker(slot: Slot, seen: string[]): KoaMiddleware {
  return async (_ctx: Context, next: Next) => {
    seen.push(slot);
    await next();
    seen.push(`${slot} again`);
  };
}

async function walk(order: readonly Slot[], ends: Slot): Promise<readonly string[]> {
  const seen: string[] = [];
  const pipeline = new Pipeline();
  for (const slot of order) if (slot !== "router") pipeline.put(slot, marker(slot, seen));
  const fallback = pipeline.composeFallback((ctx) => answerWith(ctx, "done"));
  const router: Run = (ctx) => {
    seen.push("router");
    return ends === "router" ? answerWith(ctx, "done") : fallback(ctx);
  };
  const chain = pipeline.compose(router, { boundary: (inner) => boundary(inner, () => {}) });
  const layer: Layer = new Whole(chain);
  await using stack = await Stack.of([layer]);
  expect((await stack.ask("/")).text).to.equal("done");
  return seen;
}

const out = (slots: readonly Slot[]) => slots.toReversed().map((slot) => `${slot} again`);

describe("the order of the stages", () => {
  it("is that of the table, with a marker in every slot, in whatever order they were put there", async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([...SLOTS], { minLength: SLOTS.length }), async (order) => {
        const seen = await walk(order, "router");

        expect(seen).to.deep.equal([...WAYS_IN, "router", ...out(WAYS_IN)]);
      }),
      { numRuns: 20 },
    );
  });

  it("has the fallback behind the router", async () => {
    const seen = await walk(SLOTS, "staticFiles");

    expect(seen).to.deep.equal([...WAYS_IN, "router", "staticFiles", "staticFiles again", ...out(WAYS_IN)]);
  });

  it("leaves out the slots that are empty", async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray([...WAYS_IN]), async (some) => {
        const seen = await walk(some, "router");

        expect(seen).to.deep.equal([...some, "router", ...out(some)]);
      }),
      { numRuns: 20 },
    );
  });

  it("numbers 23 stages in 25 slots", () => {
    const numbers = STAGES.map(({ number }) => number);

    expect(SLOTS).to.have.lengthOf(25);
    expect([...new Set(numbers)]).to.deep.equal(Array.from({ length: 23 }, (_value, at) => at + 1));
    expect(numbers).to.deep.equal(numbers.toSorted((a, b) => a - b));
  });
});
