/**
 * Keeps the instances of one application, in a tsyringe child container of their own: nothing is shared between two applications of a
 * process, and nothing that somebody registered globally is ever found. The only file that knows tsyringe, which needs `reflect.ts`
 * loaded before it.
 */
import { dropTslibGlobals } from "./tslib-globals.js";
import { container as registry, type DependencyContainer } from "tsyringe";
import type { Slot } from "./slot.js";

dropTslibGlobals();

/** tsyringe takes `null` and `undefined` for "nothing there"; inside this they are values. */
interface Held {
  readonly value: unknown;
}

export class InstanceStore {
  private readonly container: DependencyContainer = registry.createChildContainer();
  private readonly made: (readonly [Slot, unknown])[] = [];

  has({ key }: Slot): boolean {
    return this.container.isRegistered(key);
  }

  /** Only for slots the store has. */
  get({ key }: Slot): unknown {
    return this.container.resolve<Held>(key).value;
  }

  put(slot: Slot, value: unknown): void {
    this.container.registerInstance<Held>(slot.key, { value });
    this.made.push([slot, value]);
  }

  /** What was put, in order; there to be read after the end, too. */
  entries(): readonly (readonly [Slot, unknown])[] {
    return this.made;
  }

  async close(): Promise<void> {
    await this.container.dispose();
  }
}
