/**
 * Builds the instances of one graph: one instance for each provider, dependencies first. Only the container uses it. `graph.ts` has found
 * the faults of the graph itself before. This file finds the faults of running constructors and factories.
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

/** A token that a factory or a caller of the container resolves. */
export interface Lookup<T> {
  readonly token: InjectionToken<T>;
  readonly scope: VisibleProviders;
  /** The provider that the scope sees under the token. */
  readonly provider: Provider | undefined;
  /** The place of the caller, for the message. */
  readonly where: string;
}

/** tsyringe takes a bare `null` or `undefined` for a missing registration; in a box they are values. */
interface Box {
  readonly value: unknown;
}

/** Keeps the instances in the order of their construction. */
class InstanceStore {
  private readonly container = tsyringe.container.createChildContainer();
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

export class InstanceBuilder {
  /** Providers that a factory or the container has resolved. */
  readonly lookedUp = new Set<Provider>();
  private readonly store = new InstanceStore();
  /** Providers whose constructor or factory is running, outermost first. */
  private readonly running: Provider[] = [];
  private readonly failed = new Map<Provider, ResolutionError>();
  private isClosed = false;

  constructor(private readonly application: ApplicationScope) {}

  /** Builds the providers, which are listed dependencies first. Returns each failure once. */
  build(order: readonly Provider[]): readonly ResolutionError[] {
    for (const provider of order) {
      try {
        this.make(provider);
      } catch (error) {
        if (!(error instanceof ResolutionError)) throw error;
      }
    }
    return [...new Set(this.failed.values())];
  }

  /**
   * The instance, which is built now if it was not built before.
   *
   * @throws ResolutionError when there is no provider, or a constructor or factory throws.
   * @throws FrameworkError `E_CONTAINER_DISPOSED` after `close`.
   */
  resolve<T>({ token, scope, provider, where }: Lookup<T>): T {
    if (this.isClosed) throw disposedError(token);
    if (provider === undefined) throw new ResolutionError({ ...explainMissing(this.application, scope, token), where });
    this.lookedUp.add(provider);
    if (!this.store.has(provider)) for (const needed of this.findUnbuilt(provider)) this.make(needed);
    // A provider comes from a binding of its token, and `provide` has checked the type of the binding against the token.
    return this.store.get(provider) as T;
  }

  /** Each provider with its instance, in the order of construction. */
  entries(): readonly (readonly [Provider, unknown])[] {
    return this.store.entries();
  }

  /** From now on, `resolve` throws. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.store.close();
  }

  /**
   * The providers to build for `provider`, itself last. No recursion: only factories that resolve each other nest. A provider that is
   * already running closes a cycle and is refused.
   */
  private findUnbuilt(provider: Provider): readonly Provider[] {
    const isStarted = (from: Provider): boolean => this.store.has(from) || this.running.includes(from);
    const { postorder } = depthFirst([provider], (from) => (isStarted(from) ? [] : from.dependencies));
    const waiting = postorder.find((needed) => this.running.includes(needed));
    if (waiting !== undefined) throw new ResolutionError(dependencyCycle(this.findCycle(waiting, provider)));
    return postorder;
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

  /** Runs a constructor or factory whose dependencies are built, unless it ran before. */
  private make(provider: Provider): void {
    if (this.store.has(provider)) return;
    this.refuseFailed(provider);
    this.running.push(provider);
    try {
      const { source } = provider;
      // The factory is called here and not in `create`: factories that resolve each other nest, and each function between costs stack.
      const value = source.kind === "factory" ? source.factory(this.createResolver(provider)) : this.create(provider);
      refusePromise(provider, value);
      this.store.put(provider, value);
    } catch (error) {
      throw this.fail(provider, error);
    } finally {
      this.running.pop();
    }
  }

  private create({ source, dependencies }: Provider): unknown {
    if (source.kind !== "class") return source.kind === "value" ? source.value : undefined;
    return Reflect.construct(
      source.implementation,
      dependencies.map((dependency) => this.store.get(dependency)),
    );
  }

  /** A failure is reported once, also if several providers depend on the failed one. */
  private refuseFailed(provider: Provider): void {
    const cause = [provider, ...provider.dependencies].find((needed) => this.failed.has(needed));
    const failure = cause === undefined ? undefined : this.failed.get(cause);
    if (failure === undefined) return;
    this.failed.set(provider, failure);
    throw failure;
  }

  private fail(provider: Provider, error: unknown): ResolutionError {
    const failure =
      error instanceof ResolutionError ? error : new ResolutionError(providerFailed(provider, error), { cause: error });
    this.failed.set(provider, failure);
    return failure;
  }

  private createResolver(provider: Provider): Resolve {
    const { scope } = provider;
    return (token) => this.resolve({ token, scope, provider: scope.find(token), where: describeBuildPlace(provider) });
  }
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
