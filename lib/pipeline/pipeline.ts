/**
 * The slots of one application: stages put layers in by name, in any order; the table decides where each stands.
 *
 * @example
 * const pipeline = new Pipeline().put("requestId", new RequestIdLayer());
 * const run = pipeline.compose(router, { boundary });
 */
import { compose } from "../http/compose.js";
import type { KoaMiddleware, Middleware, Run } from "../http/middleware.js";
import { STAGES, type Slot, type Stage } from "./table.js";

/** A row of the table with what this application made of it. */
export interface StageRow extends Stage {
  readonly on: boolean;
}

type Occupant = Middleware | KoaMiddleware;

export interface Fittings {
  /** Stands outside the application's own layers: errors with a status become answers there. */
  readonly boundary: (inner: Run) => Run;
  /** Stands where maintenance does, and keeps everything out: while the application starts. */
  readonly gate?: Occupant | undefined;
}

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

  /** The whole chain around the router, composed once. */
  compose(router: Run, { boundary, gate }: Fittings): Run {
    const outer = this.occupants((slot) => slot !== "layers" && slot !== "staticFiles", gate);
    const own = this.slots.get("layers") ?? [];
    return compose(outer, boundary(compose(own, router)));
  }

  /** The router's fallback around what is done where there is none. */
  composeFallback(inner: Run): Run {
    return compose(this.slots.get("staticFiles") ?? [], inner);
  }

  describe(): readonly StageRow[] {
    return STAGES.map((stage) => ({ ...stage, on: this.isOn(stage.slot) }));
  }

  private occupants(wanted: (slot: Slot) => boolean, gate: Occupant | undefined): readonly Occupant[] {
    return STAGES.flatMap(({ slot }) => {
      const layers = wanted(slot) ? (this.slots.get(slot) ?? []) : [];
      return slot === "maintenance" && gate !== undefined ? [gate, ...layers] : layers;
    });
  }
}
