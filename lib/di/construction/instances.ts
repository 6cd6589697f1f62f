/**
 * Has tsyringe build the instances of one graph: each provider is registered under a separate key in a child container, and tsyringe keeps
 * its instance. This file decides the order, dependencies first, and finds the faults of running constructors and factories; `graph.ts` has
 * found the faults of the graph itself before. Only the container uses it.
 *
 * Each application has a separate child container of tsyringe. Two applications of one process share no instance, and registrations in the
 * global container of tsyringe are never found. No other file uses tsyringe.
 */
import { findForeignCopy } from "../../errors/copy.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { isPromise } from "../../http/middleware.js";
import { depthFirst } from "../depth-first.js";
import {
  describeBuildPlace,
  dependencyCycle,
  returnedPromise,
  providerFailed,
  ResolutionError,
} from "../diagnostics.js";
import { explainMissing } from "../missing-provider.js";
import type { ApplicationScope } from "../module-scope.js";
import type { Resolve } from "../provide.js";
import type { Provider, VisibleProviders } from "../provider.js";
import { enterContext, type InjectionContext } from "./inject.js";
import {
  createPlaceholder,
  describeRequestPlace,
  invalidRequest,
  isStackOverflow,
  MAX_NESTED_REQUESTS,
  MIN_DEEP_REQUESTS,
  nestedTooDeep,
  type Request,
} from "./requests.js";
import { SharedInstances } from "./shared-instances.js";
import { describeToken, isInjectionToken, type InjectionToken } from "../token.js";
import tsyringe from "../tsyringe.cjs";

/** A factory, or a caller of the container. */
export interface Caller {
  readonly scope: VisibleProviders;
  /** The provider that the caller gets for a token. */
  readonly find: (token: InjectionToken) => Provider | undefined;
  /** For the message. */
  readonly where: string;
}

/** tsyringe's cache takes `null` and `undefined` for an instance that does not exist yet. These stand for them. */
const NULL = Symbol("null");
const UNDEFINED = Symbol("undefined");

function box(value: unknown): unknown {
  return value === null ? NULL : value === undefined ? UNDEFINED : value;
}

function unbox(instance: unknown): unknown {
  return instance === NULL ? null : instance === UNDEFINED ? undefined : instance;
}

export class InstanceBuilder {
  /** Providers that a factory, a call of `inject` or the container has resolved. */
  readonly lookedUp = new Set<Provider>();
  /** The calls of `inject`, by the provider whose constructor or factory is the caller. */
  private readonly requests = new Map<Provider, readonly Request[]>();
  private readonly container = tsyringe.container.createChildContainer();
  /** Providers whose instance exists, in the order of construction. */
  private readonly built = new Set<Provider>();
  private readonly shared = new SharedInstances(this.built, this.requests);
  /** Providers whose constructor or factory is running, outermost first. */
  private readonly running: Provider[] = [];
  private readonly failed = new Map<Provider, ResolutionError>();
  /** The faults of constructors, factories and requests, each once. */
  private readonly faults = new Set<ResolutionError>();
  /** The first fault of the calls of `inject` of a provider: a later error of its constructor may only come from the placeholder. */
  private readonly firstFaults = new Map<Provider, ResolutionError>();
  /** The fault of all constructors for which the stack has no space. */
  private stackFault: ResolutionError | undefined;
  private isReporting = true;
  private isClosed = false;

  /** @param order every provider of the application but the defaults, dependencies first */
  constructor(
    private readonly application: ApplicationScope,
    private readonly order: readonly Provider[],
  ) {
    for (const provider of new Set([...order, ...application.defaults.values()])) {
      const useFactory = tsyringe.instanceCachingFactory(this.createProvided.bind(this, provider));
      this.container.register(provider.key, { useFactory });
    }
  }

  /** Builds all providers but the defaults. */
  build(): readonly ResolutionError[] {
    for (const { key } of this.order) {
      try {
        this.container.resolve(key);
      } catch (error) {
        if (!(error instanceof ResolutionError)) throw error;
      }
    }
    this.isReporting = false;
    return [...this.faults];
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

  /** The tokens that the constructor or factory of each provider got, by the types of its parameters and by `inject`. */
  injections(): readonly (readonly [Provider, readonly InjectionToken[]])[] {
    return [...this.built].map((provider) => {
      const requests = this.requests.get(this.shared.getTarget(provider)) ?? [];
      return [provider, [...provider.dependencies, ...requests].map(({ token }) => token)];
    });
  }

  /** From now on, every resolver throws. */
  close(): void {
    this.isClosed = true;
  }

  /** No recursion: only factories and `inject` nest. A provider that is already running closes a cycle and is refused. */
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
   * calls this again for a provider without an instance. `inject-outside.ts` looks for the name of this method in stacks.
   */
  private createProvided(provider: Provider): unknown {
    const failure = provider.group.members.map((member) => this.failed.get(member)).find((each) => each !== undefined);
    if (failure !== undefined) throw failure;
    const equal = this.shared.find(provider);
    if (equal !== undefined) {
      this.built.add(provider);
      return this.container.resolve(equal.key);
    }
    this.running.push(provider);
    const outer = enterContext(this.createContext(provider));
    try {
      const { source } = provider;
      // The factory is called here and not in `construct`: factories that resolve each other nest, and each function between costs stack.
      const value =
        source.kind === "factory" ? source.factory(this.createResolver(toCaller(provider))) : this.construct(provider);
      refusePromise(provider, value);
      refuseForeignInstance(provider, value);
      this.built.add(provider);
      return box(value);
    } catch (error) {
      throw this.fail(provider, error);
    } finally {
      enterContext(outer);
      this.running.pop();
    }
  }

  private construct({ source, parameters }: Provider): unknown {
    if (source.kind !== "class") return source.kind === "value" ? source.value : undefined;
    return Reflect.construct(
      source.implementation,
      parameters.map((parameter) => parameter && unbox(this.container.resolve(parameter.key))),
    );
  }

  private fail(provider: Provider, error: unknown): ResolutionError {
    const failure = error instanceof ResolutionError ? error : this.toFailure(provider, error);
    this.failed.set(provider, failure);
    this.faults.add(failure);
    return failure;
  }

  private toFailure(provider: Provider, error: unknown): ResolutionError {
    const first = this.firstFaults.get(provider);
    if (first !== undefined) return first;
    const depth = this.running.length;
    if (!isStackOverflow(error) || depth < MIN_DEEP_REQUESTS)
      return new ResolutionError(providerFailed(provider, error), { cause: error });
    const where = describeBuildPlace(provider);
    return (this.stackFault ??= new ResolutionError({ ...nestedTooDeep(provider, depth), where }, { cause: error }));
  }

  private createContext(provider: Provider): InjectionContext {
    const requests: Request[] = [];
    this.requests.set(provider, requests);
    return <T>(token: InjectionToken<T>): T => {
      const found = isInjectionToken(token) ? provider.scope.find(token) : undefined;
      requests.push({ token, found });
      try {
        this.refuseRequest(token, found);
        return this.createResolver(toCaller(provider))(token);
      } catch (error) {
        if (!(error instanceof ResolutionError)) throw error;
        // A placeholder has the type of every instance, because each use of it throws.
        return this.recordFault(provider, requests.length, error) as T;
      }
    };
  }

  private refuseRequest(token: unknown, found: Provider | undefined): void {
    if (!isInjectionToken(token)) throw new ResolutionError({ ...invalidRequest(token), where: "" });
    if (found === undefined || this.built.has(found) || this.running.length < MAX_NESTED_REQUESTS) return;
    throw new ResolutionError({ ...nestedTooDeep(found, MAX_NESTED_REQUESTS), where: "" });
  }

  /** The placeholder of a faulty request. The fault of another constructor or request has its place already. */
  private recordFault(provider: Provider, number: number, error: ResolutionError): unknown {
    const fault = this.faults.has(error)
      ? error
      : new ResolutionError({ ...error.diagnostic, where: describeRequestPlace(provider, number) });
    if (!this.isReporting) throw fault;
    this.faults.add(fault);
    if (!this.firstFaults.has(provider)) this.firstFaults.set(provider, fault);
    return createPlaceholder(fault);
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

/** The classes of the graph are checked before; those of other instances are known here. */
function refuseForeignInstance(provider: Provider, value: unknown): void {
  if (provider.source.kind === "class" || typeof value !== "object") return;
  const foreign = findForeignCopy(value, describeBuildPlace(provider));
  if (foreign !== undefined) throw new ResolutionError(foreign);
}

function disposedError(token: unknown): FrameworkError {
  return new FrameworkError(
    `${describeToken(token)} cannot be resolved: the container is disposed of; resolve before the application stops`,
    { code: "E_CONTAINER_DISPOSED" },
  );
}
