/**
 * Keeps the instances of one application in a tsyringe child container of its own. Two applications of one process share no instance,
 * and registrations in tsyringe's global container are never found. No other file uses tsyringe.
 */
import type { Provider } from "./provider.js";
import tsyringe from "./tsyringe.cjs";

/** tsyringe takes a bare `null` or `undefined` for a missing registration; in a box they are values. */
interface Box {
  readonly value: unknown;
}

export class InstanceStore {
  private readonly container: tsyringe.DependencyContainer = tsyringe.container.createChildContainer();
  private readonly stored: (readonly [Provider, unknown])[] = [];

  has({ key }: Provider): boolean {
    return this.container.isRegistered(key);
  }

  /** Only for providers that the store has. */
  get({ key }: Provider): unknown {
    return this.container.resolve<Box>(key).value;
  }

  put(provider: Provider, value: unknown): void {
    this.container.registerInstance<Box>(provider.key, { value });
    this.stored.push([provider, value]);
  }

  /** Each provider with its instance, in the order of construction. Readable after `close`, too. */
  entries(): readonly (readonly [Provider, unknown])[] {
    return this.stored;
  }

  async close(): Promise<void> {
    await this.container.dispose();
  }
}
