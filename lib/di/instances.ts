/**
 * Has tsyringe build the instances of one graph: each provider is registered under a separate key in a child container, and tsyringe keeps
 * its instance. This file decides the order, dependencies first, and finds the faults of running constructors and factories; `graph.ts` has
 * found the faults of the graph itself before. Only the container uses it.
 *
 * Each application has a separate child container of tsyringe. Two applications of one process share no instance, and registrations in the
 * global container of tsyringe are never found. No other file uses tsyringe.
 */
import { FrameworkError } from "../errors/framework-error.js";
import { isPromise } from "../http/middleware.js";
import { depthFirst } from "./depth-first.js";
import {
  describeBuildPlace,
  dependencyCycle,
  returnedPromise,
  providerFailed,
  ResolutionError,
} from "./diagnostics.js";
import { explainMissing } from "./missing-provider.js";
import type { ApplicationScope } from "./module-scope.js";
import type { Resolve } from "./provide.js";
import type { Provider, VisibleProviders } from "./provider.js";
import { describeToken, type InjectionToken } from "./token.js";
import tsyringe from "./tsyringe.cjs";

/** A factory, or a caller of the container. */
export interface Caller {
  readonly scope: VisibleProviders;
  /** The provider that the caller gets for a token. */
  readonly find: (token: InjectionToken) => Provider | undefined;
  /** For the message. */
  readonly where: string;
}

/** Stands for `null` or `undefined`, which tsyringe's cache takes for an instance that does not exist yet. */
class Nothing {
  constructor(readonly value: unknown) {}
}

function unbox(instance: unknown): unknown {
  return instance instanceof Nothing ? instance.value : instance;
}

export class InstanceBuilder {
  /** Providers that a factory or the container has resolved. */
  readonly lookedUp = new Set<Provider>();
  private readonly container = tsyringe.container.createChildContainer();
  /** Providers whose instance exists, in the order of construction. */
  private readonly built = new Set<Provider>();
  /** Providers whose constructor or factory is running, outermost first. */
  private readonly running: Provider[] = [];
  private readonly failed = new Map<Provider, ResolutionError>();
  private isClosed = false;

  /** @param order every provider of the application but the defaults, dependencies first */
  constructor(
    private readonly application: ApplicationScope,
    private readonly order: readonly Provider[],
  ) {
    for (const provider of new Set([...order, ...application.defaults.values()])) {
      const useFactory = tsyringe.instanceCachingFactory(this.create.bind(this, provider));
      this.container.register(provider.key, { useFactory });
    }
  }

  /** Builds all providers but the defaults. Returns each failure once. */
  build(): readonly ResolutionError[] {
    for (const { key } of this.order) {
      try {
        this.container.resolve(key);
      } catch (error) {
        if (!(error instanceof ResolutionError)) throw error;
      }
    }
    return [...new Set(this.failed.values())];
  }

  /**
   * The function that resolves the tokens of one caller. It builds an instance that was not built before.
   *
   * @throws ResolutionError when there is no provider, or a constructor or factory throws.
   * @throws FrameworkError `E_CONTAINER_DISPOSED` after `close`.
   */
  createResolver({ scope, find, where }: Caller): Resolve {
    return <T>(token: InjectionToken<T>): T => {
      if (this.isClosed) throw disposedError(token);
      const provider = find(token);
      if (provider === undefined) {
        throw new ResolutionError({ ...explainMissing(this.application, scope, token), where });
      }
      this.lookedUp.add(provider);
      if (!this.built.has(provider)) this.buildDependencies(provider);
      // A provider comes from a binding of its token, and `provide` has checked the type of the binding against the token.
      return unbox(this.container.resolve(provider.key)) as T;
    };
  }

  /** Each provider with its instance, in the order of construction. */
  entries(): readonly (readonly [Provider, unknown])[] {
    return [...this.built].map((provider) => [provider, unbox(this.container.resolve(provider.key))]);
  }

  /** From now on, every resolver throws. */
  close(): void {
    this.isClosed = true;
  }

  /** No recursion: only factories that resolve each other nest. A provider that is already running closes a cycle and is refused. */
  private buildDependencies(provider: Provider): void {
    const isStarted = (from: Provider): boolean => this.built.has(from) || this.running.includes(from);
    const { postorder } = depthFirst([provider], (from) => (isStarted(from) ? [] : from.dependencies));
    const waiting = postorder.find((needed) => this.running.includes(needed));
    if (waiting !== undefined) throw new ResolutionError(dependencyCycle(this.findCycle(waiting, provider)));
    for (const needed of postorder) if (needed !== provider) this.container.resolve(needed.key);
  }

  /** From `waiting` through the running providers to `provider`, which the innermost of them resolves, and back to `waiting`. */
  private findCycle(waiting: Provider, provider: Provider): readonly Provider[] {
    const steps = this.running.slice(this.running.indexOf(waiting));
    const next = (from: Provider): readonly Provider[] => {
      const depth = steps.indexOf(from);
      return depth === -1 ? from.dependencies : [steps[depth + 1] ?? provider];
    };
    return depthFirst([waiting], next).cycles[0] ?? [];
  }

  /**
   * Runs a constructor or factory for tsyringe. A failure is reported once, also if several providers depend on the failed one: tsyringe
   * calls this again for a provider without an instance.
   */
  private create(provider: Provider): unknown {
    const failure = this.failed.get(provider);
    if (failure !== undefined) throw failure;
    this.running.push(provider);
    try {
      const { source } = provider;
      // The factory is called here and not in `construct`: factories that resolve each other nest, and each function between costs stack.
      const value =
        source.kind === "factory" ? source.factory(this.createResolver(toCaller(provider))) : this.construct(provider);
      refusePromise(provider, value);
      this.built.add(provider);
      return value ?? new Nothing(value);
    } catch (error) {
      throw this.fail(provider, error);
    } finally {
      this.running.pop();
    }
  }

  private construct({ source, dependencies }: Provider): unknown {
    if (source.kind !== "class") return source.kind === "value" ? source.value : undefined;
    return Reflect.construct(
      source.implementation,
      dependencies.map(({ key }) => unbox(this.container.resolve(key))),
    );
  }

  private fail(provider: Provider, error: unknown): ResolutionError {
    const failure =
      error instanceof ResolutionError ? error : new ResolutionError(providerFailed(provider, error), { cause: error });
    this.failed.set(provider, failure);
    return failure;
  }
}

function toCaller(provider: Provider): Caller {
  const { scope } = provider;
  return { scope, find: (token) => scope.find(token), where: describeBuildPlace(provider) };
}

function refusePromise(provider: Provider, value: unknown): void {
  const { source } = provider;
  // A value belongs to the caller, and an instance of a class may have a method `then`.
  if (!isPromise(value) || source.kind === "value") return;
  if (source.kind === "class" && value instanceof source.implementation) return;
  // The promise is not used. Its rejection must not end the process before the diagnostic is read.
  value.then(undefined, () => undefined);
  throw new ResolutionError(returnedPromise(provider));
}

function disposedError(token: unknown): FrameworkError {
  return new FrameworkError(
    `${describeToken(token)} cannot be resolved: the container is disposed of; resolve before the application stops`,
    { code: "E_CONTAINER_DISPOSED" },
  );
}
