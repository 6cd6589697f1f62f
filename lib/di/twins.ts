/**
 * Twins: one class under one token, listed by several modules, to be given the very same things. They are one instance, so that what is
 * provided exists once in an application, whoever lists it. Where the modules' own bindings give them different things, they stay two.
 */
import type { Slot } from "./slot.js";

/** Which slots another one stands for, from a list of wired slots that has dependencies first; ties what depends on them anew. */
export function twinsIn(order: readonly Slot[]): ReadonlyMap<Slot, Slot> {
  const twins = new Map<Slot, Slot>();
  const firsts = new Map<unknown, Slot[]>();
  for (const slot of order) {
    slot.dependencies = slot.dependencies.map((dependency) => twins.get(dependency) ?? dependency);
    if (slot.source.kind !== "class") continue;
    const others = firsts.get(slot.source.implementation) ?? [];
    const twin = others.find((other) => isTwin(other, slot));
    if (twin === undefined) firsts.set(slot.source.implementation, [...others, slot]);
    else twins.set(slot, twin);
  }
  return twins;
}

/** Of two slots of one class. */
function isTwin(one: Slot, other: Slot): boolean {
  return one.token === other.token && one.dependencies.every((dependency, at) => dependency === other.dependencies[at]);
}
