/**
 * The slots of one application: stages put layers in by name, in any order; the table decides where each stands.
 *
 * @example
 * const pipeline = new Pipeline();
 * pipeline.put("requestId", new RequestIdLayer());
 * const run = pipeline.compose(router);
 */
import { compose } from "../kernel/compose.js";
import type { KoaMiddleware, Middleware, Run } from "../kernel/middleware.js";
import { STAGES, type Slot, type Stage } from "./table.js";

/** A row of the table with what this application made of it. */
export interface StageRow extends Stage {
  readonly on: boolean;
}

type Occupant = Middleware | KoaMiddleware;

export class Pipeline {
  private readonly slots = new Map<Slot, Occupant[]>();

  /** Adds to a slot, inside what stands there already. */
  put(slot: Slot, ...layers: readonly Occupant[]): this {
    this.slots.set(slot, [...(this.slots.get(slot) ?? []), ...layers]);
    return this;
  }

  /** Marks a slot as on that adds nothing to the chain: data, the router, its fallback. */
  mark(slot: Slot): this {
    return this.put(slot);
  }

  isOn(slot: Slot): boolean {
    return this.slots.has(slot);
  }

  /** The whole chain around `inner`, composed once. */
  compose(inner: Run): Run {
    const chain = STAGES.flatMap(({ slot }) => this.slots.get(slot) ?? []);
    return compose(chain, inner);
  }

  describe(): readonly StageRow[] {
    return STAGES.map((stage) => ({ ...stage, on: this.isOn(stage.slot) }));
  }
}
