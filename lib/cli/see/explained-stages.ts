/** Each stage of an application, on or off, and because of what: the call of the builder with its line in the program, or a default. */
import { findCaller } from "../../errors/setup-error.js";
import { profile } from "../../runtime/profile.js";
import type { Plan } from "../../app/plan.js";
import type { Slot } from "../../pipeline/table.js";
import type { LoadedApplication } from "../application/load-application.js";
import { toSourcePlace } from "../application/source-place.js";

export interface ExplainedStage {
  readonly number: number;
  readonly slot: Slot;
  readonly on: boolean;
  readonly because: string;
}

/** The calls of stages whose name is not that of the slot with brackets. */
const CALLS: Readonly<Partial<Record<Slot, string>>> = {
  layers: ".layer(…)",
  health: ".health(on)",
  redirectMapper: ".redirectMapper(on)",
};

const ON_BY_DEFAULT = "is on unless the builder switches it off";

export function explainStages({ application, builder, file }: LoadedApplication): readonly ExplainedStage[] {
  return application.pipeline().map(({ number, slot, on }) => {
    const places = findPlaces(builder.plan, slot, file.root);
    return {
      number,
      slot,
      on,
      because: on ? explainEnabled(slot, places) : explainDisabled(builder.plan, slot, places),
    };
  });
}

function explainEnabled(slot: Slot, places: readonly string[]): string {
  if (slot === "router") return "every application has it";
  return places.length === 0 ? ON_BY_DEFAULT : places.join(", ");
}

function explainDisabled(plan: Plan, slot: Slot, places: readonly string[]): string {
  const at = places.join(", ");
  if (places.length === 0) return `${getCall(slot)} is not called`;
  if (slot === "uagEndpoint" && profile === "release") return `release builds ignore ${at}`;
  if (slot === "devProxy")
    return plan.devProxy === "ignored" ? `release builds ignore ${at}` : `FRAMEWORK_VITE_IPC is not set; ${at}`;
  return `switched off by ${at}`;
}

/** `.requestId() at src/app.ts:7:4`, for each call. */
function findPlaces({ calls, stages }: Plan, slot: Slot, root: string): readonly string[] {
  const name = stages.find((stage) => stage.slot === slot)?.call ?? getCall(slot);
  return calls
    .filter(({ call }) => call === name)
    .map(({ call, site }) => {
      const place = findCaller(site);
      return place === undefined ? call : `${call} at ${toSourcePlace(place, root)}`;
    });
}

function getCall(slot: Slot): string {
  return CALLS[slot] ?? `.${slot}(…)`;
}
