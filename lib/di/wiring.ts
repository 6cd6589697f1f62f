/**
 * Ties each slot to the slots that its constructor asks for. What cannot be tied is kept until all are tied: only then is it known who
 * wanted the slot in the first place, and a message can show the whole chain.
 */
import type { Finding } from "../errors/diagnostic.js";
import { constructorOf, type ConstructorShape, type Parameter } from "./constructor.js";
import { blankParameter, placeOf, unreadable } from "./parameter-findings.js";
import { explainMissing } from "./missing.js";
import type { ApplicationScope } from "./scope.js";
import type { Slot } from "./slot.js";
import { nameOf, type InjectionToken } from "./token.js";

export class Wiring {
  /** Slots that something was given, or asked for by name. */
  readonly asked = new Set<Slot>();
  private readonly firstUser = new Map<Slot, Slot>();
  private readonly faults: (() => Finding)[] = [];

  constructor(private readonly application: ApplicationScope) {}

  /** Wires every slot in `slots` and everything they lead to; each once. */
  wire(slots: Iterable<Slot>): void {
    const pending = [...slots];
    const known = new Set(pending);
    for (const slot of pending) {
      slot.dependencies = this.dependenciesOf(slot);
      for (const dependency of slot.dependencies) {
        if (!known.has(dependency)) pending.push(dependency);
        known.add(dependency);
      }
    }
  }

  /** What could not be wired, in the order of the slots. */
  findings(): readonly Finding[] {
    return this.faults.map((fault) => fault());
  }

  private dependenciesOf(slot: Slot): readonly Slot[] {
    if (slot.source.kind !== "class") return [];
    const target = slot.source.implementation;
    const shape = constructorOf(target);
    if (shape.unreadable !== undefined) this.faults.push(() => unreadable(slot, target, shape));
    return shape.parameters.flatMap((parameter) => this.given(slot, target, shape, parameter) ?? []);
  }

  private given(slot: Slot, target: object, shape: ConstructorShape, parameter: Parameter): Slot | undefined {
    const { token } = parameter;
    if (token === undefined) {
      this.faults.push(() => blankParameter(slot, target, shape, parameter));
      return undefined;
    }
    const found = slot.scope.find(token);
    if (found === undefined) this.faults.push(() => this.missing(slot, token, placeOf(slot, target, shape, parameter)));
    else this.note(found, slot);
    return found;
  }

  private note(found: Slot, user: Slot): void {
    this.asked.add(found);
    if (!this.firstUser.has(found)) this.firstUser.set(found, user);
  }

  private missing(slot: Slot, token: InjectionToken, where: string): Finding {
    const { code, what, cure } = explainMissing(this.application, slot.scope, token);
    return { code, what: `${what} (${this.chain(slot)} -> ${nameOf(token)})`, where, cure };
  }

  /** From whoever nobody asks for down to `slot`; a cycle above it ends the chain. */
  private chain(slot: Slot): string {
    const links = new Set([slot]);
    for (let user = this.firstUser.get(slot); user !== undefined && !links.has(user); user = this.firstUser.get(user)) {
      links.add(user);
    }
    return [...links]
      .toReversed()
      .map(({ label }) => label)
      .join(" -> ");
  }
}
