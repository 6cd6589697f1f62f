/**
 * The instances of one application, for callers outside the graph: the application itself, the lifecycle, the test kit. Created by
 * `inspect(…).build()`. Handlers and providers do not use it: their constructors get their dependencies.
 *
 * @example
 * const container = inspect({ root: ShopModule }).build();
 * container.get(LinkStore);
 * container.in(ShopModule).get(LinksController);
 * await container.dispose();
 */
import { FrameworkError } from "../errors/framework-error.js";
import { disposeAll, type DisposalLimit } from "./construction/disposal.js";
import type { InstanceBuilder } from "./construction/instances.js";
import type { ApplicationScope, Scope } from "./module-scope.js";
import { describeToken, type InjectionToken } from "./token.js";
import type { Class } from "../runtime/class.js";

/** Resolves tokens in one scope. */
export interface Resolver {
  /**
   * @throws ResolutionError when the scope does not see the token, or its provider throws.
   * @throws FrameworkError `E_CONTAINER_DISPOSED` once the container is disposed of.
   */
  get<T>(token: InjectionToken<T>): T;
}

/** The tokens that one constructor or factory got. */
export interface Injection {
  /** The name of the module; `""` for a binding of the builder. */
  readonly module: string;
  /** The name of the class; that of the token for a factory. */
  readonly provider: string;
  /** Those of the types of the parameters first, then those of the calls of `inject`. A factory also resolves tokens without `inject`: these are not known. */
  readonly tokens: readonly string[];
}

export class Container implements Resolver {
  private disposal: Promise<void> | undefined;
  private excepted: readonly unknown[] = [];

  /** @internal Use `inspect(…).build()`. */
  constructor(
    private readonly application: ApplicationScope,
    private readonly builder: InstanceBuilder,
  ) {}

  /** Resolves in the scope of the whole application. Finds controllers too, and every class that is built in one module only. */
  get<T>(token: InjectionToken<T>): T {
    return this.createResolver(this.application).get(token);
  }

  /** Whether the application as a whole sees a provider of the token that is more than a default. */
  provides(token: InjectionToken): boolean {
    const provider = this.application.find(token);
    return provider !== undefined && provider !== this.application.defaults.get(token);
  }

  /**
   * Resolves in the scope of one module, its controllers and middleware included.
   *
   * @throws FrameworkError `E_NOT_A_MODULE` when the class is not a module of this application.
   */
  in(module: Class): Resolver {
    const scope = this.application.modules.find((candidate) => candidate.module === module);
    if (scope === undefined) {
      throw new FrameworkError(`${describeToken(module)} is not a module of this application`, {
        code: "E_NOT_A_MODULE",
      });
    }
    return this.createResolver(scope);
  }

  /** Every instance and value so far, in order of construction, each object once. */
  instances(): readonly unknown[] {
    return removeDuplicates(this.builder.entries().map(([, value]) => value));
  }

  /** The same with the token of each: an instance that is bound to several tokens occurs once for each. */
  provided(): readonly (readonly [token: InjectionToken, instance: unknown])[] {
    return this.builder.entries().map(([{ token }, value]) => [token, value]);
  }

  /** What each constructor and factory got, as data; those that got nothing are left out. */
  injections(): readonly Injection[] {
    const all = this.builder.injections().filter(([, tokens]) => tokens.length > 0);
    return all.map(([{ scope, source, token }, tokens]) => ({
      module: scope === this.application ? "" : scope.name,
      provider: describeToken(source.kind === "class" ? source.implementation : token),
      tokens: tokens.map(describeToken),
    }));
  }

  /**
   * Disposes of the instances of classes and factories, the last one first. Values given with `useValue` belong to the caller and stay.
   * A second call returns the promise of the first. From this call on, resolving throws.
   *
   * @param except An instance that is still needed: `disposeOfExcepted` disposes of it.
   * @param limit The time limit of each disposal; there is none unless it is given.
   * @throws FrameworkError `E_DISPOSE` when an instance could not be disposed of; all others were.
   */
  dispose(except?: unknown, limit?: DisposalLimit): Promise<void> {
    return (this.disposal ??= this.disposeExcept(except, limit));
  }

  /** Disposes of the instance that `dispose` left, unless it belongs to the caller. Throws as `dispose` does. */
  disposeOfExcepted(limit?: DisposalLimit): Promise<void> {
    return disposeAll(this.excepted, limit);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  private createResolver(scope: Scope): Resolver {
    const where = `a call of get in ${scope.name}`;
    return { get: this.builder.createResolver({ scope, find: (token) => scope.findAny(token), where }) };
  }

  private async disposeExcept(except: unknown, limit?: DisposalLimit): Promise<void> {
    const entries = this.builder.entries();
    const given = new Set(entries.filter(([provider]) => provider.source.kind === "value").map(([, value]) => value));
    const owned = removeDuplicates(entries.map(([, value]) => value)).filter((value) => !given.has(value));
    this.excepted = owned.filter((value) => value === except);
    this.builder.close();
    await disposeAll(
      owned.filter((value) => value !== except),
      limit,
    );
  }
}

/** One instance may be bound to several tokens. */
function removeDuplicates(values: readonly unknown[]): readonly unknown[] {
  return [...new Set(values)];
}
