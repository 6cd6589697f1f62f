/**
 * The pipeline of one application: which slots of the table are on, and with which layers. Layers are put into slots in any order;
 * the table decides the order of the slots.
 *
 * @example
 * const pipeline = new Pipeline().put("requestId", new RequestIdLayer());
 * const run = pipeline.compose(router, { boundary });
 */
import { compose } from "../http/compose.js";
import type { KoaMiddleware, Middleware, Run } from "../http/middleware.js";
import { STAGES, type Slot, type Stage } from "./table.js";

/** A row of the table, and whether this application has the slot on. */
export interface StageRow extends Stage {
  readonly on: boolean;
}

type AnyMiddleware = Middleware | KoaMiddleware;

export interface ChainOptions {
  /** Goes around the layers of the application, and converts errors with a status into responses. */
  readonly boundary: (inner: Run) => Run;
  /** Goes into the slot of maintenance while the application starts, and refuses every request. */
  readonly gate?: AnyMiddleware | undefined;
}

export class Pipeline {
  private readonly slots = new Map<Slot, AnyMiddleware[]>();
  private readonly guards = new Map<Slot, AnyMiddleware>();

  /** Adds layers to a slot, inside the layers that it has already. */
  put(slot: Slot, ...layers: readonly AnyMiddleware[]): this {
    this.slots.set(slot, [...(this.slots.get(slot) ?? []), ...layers]);
    return this;
  }

  /** Sets a slot to on that has no layer in the chain: a slot of data, the router, or its fallback. */
  enable(slot: Slot): this {
    return this.put(slot);
  }

  /** Puts a layer of another slot directly outside a slot, whether that one is on or not. */
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

  /** The whole chain around the router, composed once. */
  compose(router: Run, { boundary, gate }: ChainOptions): Run {
    const stageLayers = this.collectLayers((slot) => slot !== "layers" && slot !== "staticFiles", gate);
    const applicationLayers = this.getLayers("layers");
    return compose(stageLayers, boundary(compose(applicationLayers, router)));
  }

  /** The fallback of the router. It calls `inner` if it has no response, or if the application has no fallback. */
  composeFallback(inner: Run): Run {
    return compose(this.getLayers("staticFiles"), inner);
  }

  describe(): readonly StageRow[] {
    return STAGES.map((stage) => ({ ...stage, on: this.isEnabled(stage.slot) }));
  }

  private collectLayers(isWanted: (slot: Slot) => boolean, gate: AnyMiddleware | undefined): readonly AnyMiddleware[] {
    return STAGES.flatMap(({ slot }) => {
      const slotLayers = isWanted(slot) ? this.getLayers(slot) : [];
      const guard = this.guards.get(slot);
      const layers = guard === undefined ? slotLayers : [guard, ...slotLayers];
      return slot === "maintenance" && gate !== undefined ? [gate, ...layers] : layers;
    });
  }
}
