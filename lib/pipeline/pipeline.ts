/**
 * The pipeline of one application: which slots of the table are on, and with which layers. Layers are put into slots in any order;
 * the table decides the order of the slots.
 *
 * @example
 * const pipeline = new Pipeline().put("requestId", new RequestIdLayer()).put("router", router);
 * koa.middleware = pipeline.toFunctions();
 */
import { toKoaMiddleware } from "../http/compose.js";
import type { AnyMiddleware, KoaMiddleware } from "../http/middleware.js";
import { STAGES, type Slot, type Stage } from "./table.js";

/** A row of the table, and whether this application has the slot on. */
export interface StageRow extends Stage {
  readonly on: boolean;
}

export class Pipeline {
  private readonly slots = new Map<Slot, AnyMiddleware[]>();
  private readonly guards = new Map<Slot, AnyMiddleware>();

  /** Adds layers to a slot, inside the layers that it has already. */
  put(slot: Slot, ...layers: readonly AnyMiddleware[]): this {
    this.slots.set(slot, [...this.getLayers(slot), ...layers]);
    return this;
  }

  /** Puts a layer that is no stage directly outside a slot, whether that one is on or not. */
  guard(slot: Slot, layer: AnyMiddleware): this {
    this.guards.set(slot, layer);
    return this;
  }

  isEnabled(slot: Slot): boolean {
    return this.slots.has(slot);
  }

  /** The layers of a slot, the outermost first. */
  getLayers(slot: Slot): readonly AnyMiddleware[] {
    return this.slots.get(slot) ?? [];
  }

  /** A function for each slot that is on, named after it, the outermost first. It has the guards between it and the slot that is on before. */
  toFunctions(): readonly KoaMiddleware[] {
    let guards: readonly AnyMiddleware[] = [];
    return STAGES.flatMap(({ slot }) => {
      const guard = this.guards.get(slot);
      if (guard !== undefined) guards = [...guards, guard];
      if (!this.isEnabled(slot)) return [];
      const layers = [...guards, ...this.getLayers(slot)];
      guards = [];
      return [toKoaMiddleware(slot, layers)];
    });
  }

  describe(): readonly StageRow[] {
    return STAGES.map((stage) => ({ ...stage, on: this.isEnabled(stage.slot) }));
  }
}
