/**
 * The instances of one application, for whoever asks from outside: the application itself, the lifecycle, the test kit. Made by
 * `inspect(…).build()`. Handlers and providers never see it: they are given what they need by their constructors.
 *
 * @example
 * const container = inspect({ root: ShopModule }).build();
 * container.get(LinkStore);
 * container.in(ShopModule).get(LinksController);
 * await container.dispose();
 */
import { FrameworkError } from "../errors/framework-error.js";
import { isPromise } from "../http/middleware.js";
import { nameOf, type Class, type InjectionToken } from "./token.js";
import type { InstanceBuilder } from "./instances.js";
import type { ApplicationScope, Scope } from "./module-scope.js";

/**
 * How an instance is let go: by `Symbol.asyncDispose`, else `dispose()`, else `Symbol.dispose`; only one of them is called. In
 * reverse order of construction, one after the other, so that nothing is taken from under its users; only promises are waited for.
 */
const WAYS = [Symbol.asyncDispose, "dispose", Symbol.dispose] as const;

/**
 * Disposes of everything, whatever fails on the way.
 *
 * @throws FrameworkError `E_DISPOSE` at the end when something failed; its cause is an `AggregateError` of all failures.
 */
export async function disposeAll(instances: readonly unknown[]): Promise<void> {
  const failures: unknown[] = [];
  const names: string[] = [];
  for (const instance of instances.toReversed()) {
    try {
      const ending = disposeOf(instance);
      if (isPromise(ending)) await ending;
    } catch (error) {
      failures.push(error);
      names.push(nameOf(instance?.constructor));
    }
  }
  if (failures.length > 0) throw incomplete(names, failures);
}

function disposeOf(instance: unknown): unknown {
  if ((typeof instance !== "object" && typeof instance !== "function") || instance === null) return undefined;
  for (const way of WAYS) {
    const dispose: unknown = Reflect.get(instance, way);
    if (typeof dispose === "function") return Reflect.apply(dispose, instance, []);
  }
  return undefined;
}

function incomplete(names: readonly string[], failures: readonly unknown[]): FrameworkError {
  return new FrameworkError(`could not dispose of ${names.join(", ")}; everything else was disposed of`, {
    code: "E_DISPOSE",
    cause: new AggregateError(failures),
  });
}

/** What can be asked for from one place. */
export interface Resolver {
  /**
   * @throws ResolutionError when the place does not see the token, or its provider throws.
   * @throws FrameworkError `E_CONTAINER_DISPOSED` once the container is disposed of.
   */
  get<T>(token: InjectionToken<T>): T;
}

export class Container implements Resolver {
  private ended: Promise<void> | undefined;
  private spared: readonly unknown[] = [];

  /** @internal Use `inspect(…).build()`. */
  constructor(
    private readonly application: ApplicationScope,
    private readonly assembly: InstanceBuilder,
  ) {}

  /** What the application as a whole sees: see `ApplicationScope`. Also finds controllers and other members that exist once. */
  get<T>(token: InjectionToken<T>): T {
    return this.from(this.application).get(token);
  }

  /** Whether the application as a whole sees more under the token than a default. */
  provides(token: InjectionToken): boolean {
    const slot = this.application.find(token);
    return slot !== undefined && slot !== this.application.defaults.get(token);
  }

  /**
   * What one module sees, its controllers and middleware included.
   *
   * @throws FrameworkError `E_NOT_A_MODULE` when the class is not a module of this application.
   */
  in(module: Class): Resolver {
    const scope = this.application.modules.find((candidate) => candidate.module === module);
    if (scope === undefined) {
      throw new FrameworkError(`${nameOf(module)} is not a module of this application`, { code: "E_NOT_A_MODULE" });
    }
    return this.from(scope);
  }

  /** Every instance and value there is so far, in order of construction, each object once. */
  instances(): readonly unknown[] {
    return distinct(this.assembly.entries().map(([, value]) => value));
  }

  /**
   * Lets go of what classes and factories made, last made first; values given with `useValue` stay the caller's. A second call waits for
   * the first. Nothing can be resolved afterwards.
   *
   * @param sparing What is still needed: left to `disposeOfSpared`.
   * @throws FrameworkError `E_DISPOSE` when something could not be disposed of; everything else was.
   */
  dispose(sparing?: unknown): Promise<void> {
    return (this.ended ??= this.end(sparing));
  }

  /** Lets go of what `dispose` has spared, unless that is the caller's. Throws as `dispose` does. */
  disposeOfSpared(): Promise<void> {
    return disposeAll(this.spared);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  private from(scope: Scope): Resolver {
    const where = `a look-up in ${scope.name}`;
    return { get: (token) => this.assembly.resolve({ token, scope, provider: scope.reach(token), where }) };
  }

  private async end(sparing: unknown): Promise<void> {
    const entries = this.assembly.entries();
    const given = new Set(entries.filter(([slot]) => slot.source.kind === "value").map(([, value]) => value));
    const ours = distinct(entries.map(([, value]) => value)).filter((value) => !given.has(value));
    this.spared = ours.filter((value) => value === sparing);
    await Promise.all([this.assembly.close(), disposeAll(ours.filter((value) => value !== sparing))]);
  }
}

/** A second name for an instance must not make it two. */
function distinct(values: readonly unknown[]): readonly unknown[] {
  return [...new Set(values)];
}
