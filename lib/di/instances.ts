/**
 * Makes the instances of one graph: each slot once, dependencies first. Made and used by the container; what is wrong with a graph as such
 * was found before (`graph.ts`), what only shows when constructors and factories run is found here.
 */
import { dropTslibGlobals } from "./tslib-globals.js";
import { container as registry, type DependencyContainer } from "tsyringe";
import type { Provider, Viewpoint } from "./provider.js";
import { construct } from "./injectable.js";
import { FrameworkError } from "../errors/framework-error.js";
import { isPromise } from "../http/middleware.js";
import { depthFirst } from "./depth-first.js";
import { buildPlace, dependencyCycle, promised, threw, ResolutionError } from "./diagnostics.js";
import { explainMissing } from "./dependencies.js";
import type { Resolve } from "./provide.js";
import type { ApplicationScope } from "./module-scope.js";
import { nameOf, type InjectionToken } from "./token.js";

/**
 * Keeps the instances of one application, in a tsyringe child container of their own: nothing is shared between two applications of a
 * process, and nothing that somebody registered globally is ever found. The only file that knows tsyringe, which needs `reflect.ts`
 * loaded before it.
 */
dropTslibGlobals();

/** tsyringe takes `null` and `undefined` for "nothing there"; inside this they are values. */
interface Held {
  readonly value: unknown;
}

export class InstanceStore {
  private readonly container: DependencyContainer = registry.createChildContainer();
  private readonly made: (readonly [Provider, unknown])[] = [];

  has({ key }: Provider): boolean {
    return this.container.isRegistered(key);
  }

  /** Only for slots the store has. */
  get({ key }: Provider): unknown {
    return this.container.resolve<Held>(key).value;
  }

  put(slot: Provider, value: unknown): void {
    this.container.registerInstance<Held>(slot.key, { value });
    this.made.push([slot, value]);
  }

  /** What was put, in order; there to be read after the end, too. */
  entries(): readonly (readonly [Provider, unknown])[] {
    return this.made;
  }

  async close(): Promise<void> {
    await this.container.dispose();
  }
}

/** A look-up that is about to be answered. */
export interface Demand<T> {
  readonly token: InjectionToken<T>;
  readonly scope: Viewpoint;
  /** What the scope sees under the token. */
  readonly slot: Provider | undefined;
  /** Who asks; for the message. */
  readonly where: string;
}

export class InstanceBuilder {
  /** Slots that were looked up by hand: by a factory, or through the container. */
  readonly asked = new Set<Provider>();
  private readonly store = new InstanceStore();
  /** Slots whose constructor or factory is running, outermost first. */
  private readonly running: Provider[] = [];
  private closed = false;
  private readonly failed = new Map<Provider, ResolutionError>();

  constructor(private readonly application: ApplicationScope) {}

  /** Builds the slots, which come dependencies first; returns what failed, each failure once. */
  build(order: readonly Provider[]): readonly ResolutionError[] {
    for (const slot of order) {
      try {
        this.make(slot);
      } catch (error) {
        if (!(error instanceof ResolutionError)) throw error;
      }
    }
    return [...new Set(this.failed.values())];
  }

  /**
   * @throws ResolutionError
   * @throws FrameworkError `E_CONTAINER_DISPOSED` after `close`.
   */
  answer<T>({ token, scope, slot, where }: Demand<T>): T {
    if (this.closed) throw disposed(token);
    if (slot === undefined) throw new ResolutionError({ ...explainMissing(this.application, scope, token), where });
    this.asked.add(slot);
    if (!this.store.has(slot)) for (const needed of this.unmade(slot)) this.make(needed);
    // A slot is only ever filled from a binding of its own token, whose type was checked against it by `provide`.
    return this.store.get(slot) as T;
  }

  /** What was made so far, in order. */
  entries(): readonly (readonly [Provider, unknown])[] {
    return this.store.entries();
  }

  /** Nothing can be looked up any more. */
  async close(): Promise<void> {
    this.closed = true;
    await this.store.close();
  }

  /**
   * What has to be made for `slot`, itself last. Found without recursion: only factories that resolve each other nest. Refuses to wait
   * for what is itself waiting.
   */
  private unmade(slot: Provider): readonly Provider[] {
    const isDone = (from: Provider): boolean => this.store.has(from) || this.running.includes(from);
    const { order } = depthFirst([slot], (from) => (isDone(from) ? [] : from.dependencies));
    const waiting = order.find((needed) => this.running.includes(needed));
    if (waiting !== undefined) throw new ResolutionError(dependencyCycle(this.cycleThrough(waiting, slot)));
    return order;
  }

  /** From `waiting` along what is running, on to `slot` which the innermost asks for, and back. */
  private cycleThrough(waiting: Provider, slot: Provider): readonly Provider[] {
    const steps = this.running.slice(this.running.indexOf(waiting));
    const next = (from: Provider): readonly Provider[] => {
      const depth = steps.indexOf(from);
      return depth === -1 ? from.dependencies : [steps[depth + 1] ?? slot];
    };
    return depthFirst([waiting], next).cycles[0] ?? [];
  }

  /** Runs a constructor or factory whose dependencies are made, unless that was done before. */
  private make(slot: Provider): void {
    if (this.store.has(slot)) return;
    this.refuseFailed(slot);
    this.running.push(slot);
    try {
      const { source } = slot;
      // Called from here and not one function further in: factories that resolve each other nest as deep as the stack allows.
      const value = source.kind === "factory" ? source.factory(this.resolverOf(slot)) : this.create(slot);
      if (source.kind === "factory") refusePromise(slot, value);
      this.store.put(slot, value);
    } catch (error) {
      throw this.fail(slot, error);
    } finally {
      this.running.pop();
    }
  }

  private create({ source, dependencies }: Provider): unknown {
    if (source.kind !== "class") return source.kind === "value" ? source.value : undefined;
    return construct(
      source.implementation,
      dependencies.map((dependency) => this.store.get(dependency)),
    );
  }

  /** One failure is reported once, however many wait for it. */
  private refuseFailed(slot: Provider): void {
    const cause = [slot, ...slot.dependencies].find((needed) => this.failed.has(needed));
    const failure = cause === undefined ? undefined : this.failed.get(cause);
    if (failure === undefined) return;
    this.failed.set(slot, failure);
    throw failure;
  }

  private fail(slot: Provider, error: unknown): ResolutionError {
    const failure =
      error instanceof ResolutionError ? error : new ResolutionError(threw(slot, error), { cause: error });
    this.failed.set(slot, failure);
    return failure;
  }

  private resolverOf(slot: Provider): Resolve {
    const { scope } = slot;
    return (token) => this.answer({ token, scope, slot: scope.find(token), where: buildPlace(slot) });
  }
}

function refusePromise(slot: Provider, value: unknown): void {
  if (!isPromise(value)) return;
  // Nobody will ever wait for it; its failure must not end the process before the finding is read.
  value.then(undefined, () => undefined);
  throw new ResolutionError(promised(slot));
}

function disposed(token: unknown): FrameworkError {
  return new FrameworkError(`${nameOf(token)} was asked for after the container was disposed of`, {
    code: "E_CONTAINER_DISPOSED",
  });
}
